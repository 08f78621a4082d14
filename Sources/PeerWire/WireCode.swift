internal import PeerModel

/// A value that an event carries as one byte: its place in `codes`, from 1, or 0 for none.
protocol WireCode: Equatable {
    /// In the order of `WIRE.md`; only ever added to, at the end.
    static var codes: [Self] { get }
}

extension DepartureReason: WireCode {
    static var codes: [DepartureReason] { [.left, .crashed, .timedOut, .kicked] }
}

extension TransferStatus: WireCode {
    static var codes: [TransferStatus] { [.verified, .partial, .declined, .failed, .cancelled] }
}

extension TransferReason: WireCode {
    static var codes: [TransferReason] {
        [
            .diskFull, .changed, .unreadable, .corrupt, .tooLarge, .stalled, .timeout, .left, .lost, .unwritable,
            .withdrawn,
        ]
    }
}

extension ByteReader {
    /// A value for which 0 stands for none.
    mutating func codeOrNone<Value: WireCode>(_ type: Value.Type = Value.self) throws(WireError) -> Value? {
        let code = Int(try number(UInt8.self))
        guard code <= Value.codes.count else { throw .badLayout }
        return code == 0 ? nil : Value.codes[code - 1]
    }

    mutating func code<Value: WireCode>(_ type: Value.Type = Value.self) throws(WireError) -> Value {
        guard let value = try codeOrNone(type) else { throw .badLayout }
        return value
    }
}

extension ByteWriter {
    mutating func code<Value: WireCode>(_ value: Value?) {
        // A case missing in `codes` would read as none; a test goes through all of them.
        let place = value.flatMap { Value.codes.firstIndex(of: $0) }.map { $0 + 1 }
        number(UInt8(place ?? 0))
    }
}

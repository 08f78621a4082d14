/// A line of input, or why it cannot be one.
enum InputLine: Equatable, Sendable {
    case text(String)
    case tooLong
    case notUTF8
}

/// Cuts a stream of bytes into lines; memory stays bounded whatever comes.
struct LineSplitter: Sendable {
    /// The most bytes of a line: a message of 16 KiB with every byte escaped in JSON fits many times.
    static let maximum = 1 << 20

    private var pending: [UInt8] = []
    private var isOverlong = false

    /// The lines that these bytes complete.
    mutating func append(_ bytes: some Sequence<UInt8>) -> [InputLine] {
        var lines: [InputLine] = []
        for byte in bytes {
            if byte == UInt8(ascii: "\n") {
                lines.append(takeLine())
            } else if pending.count < Self.maximum {
                pending.append(byte)
            } else {
                isOverlong = true
            }
        }
        return lines
    }

    /// The last line, if it had no line feed.
    mutating func finish() -> InputLine? { pending.isEmpty ? nil : takeLine() }

    private mutating func takeLine() -> InputLine {
        defer {
            pending.removeAll(keepingCapacity: true)
            isOverlong = false
        }
        if isOverlong { return .tooLong }
        if pending.last == UInt8(ascii: "\r") { pending.removeLast() }
        return String(validating: pending, as: UTF8.self).map { .text($0) } ?? .notUTF8
    }
}

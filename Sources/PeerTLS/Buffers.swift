internal import COpenSSL

/// Where OpenSSL reads and writes instead of a socket: one buffer each way.
///
/// Plain memory and no lock: only the one thread that owns the engine comes here, through the engine or through OpenSSL.
final class Buffers: @unchecked Sendable {  // used by one thread at a time, like the engine that owns it
    /// Several records fit, so that one system call moves more than one.
    private static let inputSize = 128 << 10
    /// More output than this is given back once it has gone out, so that one slow spell does not cost memory for ever.
    private static let keptOutputSize = 256 << 10
    private static let firstOutputSize = 4 << 10

    private let input: UnsafeMutableRawBufferPointer
    private var inputRange = 0..<0
    private var output: UnsafeMutableRawBufferPointer
    private var outputRange = 0..<0
    /// What OpenSSL wrote while it read, since the output was last empty: what the other side made it answer.
    var answered = 0

    init() {
        input = .allocate(byteCount: Self.inputSize, alignment: 64)
        output = .allocate(byteCount: Self.firstOutputSize, alignment: 64)
    }

    deinit {
        input.deallocate()
        output.deallocate()
    }

    var inputCount: Int { inputRange.count }
    var outputCount: Int { outputRange.count }

    func fill<Failure: Error>(_ receive: (UnsafeMutableRawBufferPointer) throws(Failure) -> Int) throws(Failure) {
        if inputRange.isEmpty {
            inputRange = 0..<0
        } else if inputRange.upperBound == input.count {
            guard inputRange.lowerBound > 0 else { return }
            let rest = UnsafeRawBufferPointer(rebasing: input[inputRange])
            input.copyMemory(from: rest)
            inputRange = 0..<rest.count
        }
        let free = UnsafeMutableRawBufferPointer(rebasing: input[inputRange.upperBound...])
        let count = try receive(free)
        inputRange = inputRange.lowerBound..<(inputRange.upperBound + min(max(count, 0), free.count))
    }

    func drain<Failure: Error>(_ send: (UnsafeRawBufferPointer) throws(Failure) -> Int) throws(Failure) {
        guard !outputRange.isEmpty else { return }
        let count = try send(UnsafeRawBufferPointer(rebasing: output[outputRange]))
        let start = outputRange.lowerBound + min(max(count, 0), outputRange.count)
        outputRange = start..<outputRange.upperBound
        guard outputRange.isEmpty else { return }
        outputRange = 0..<0
        answered = 0
        if output.count > Self.keptOutputSize { moveOutput(toSize: Self.firstOutputSize) }
    }

    /// What OpenSSL gets when it reads; 0 means that nothing is there yet.
    fileprivate func take(_ destination: UnsafeMutableRawBufferPointer) -> Int {
        let count = min(destination.count, inputRange.count)
        guard count > 0 else { return 0 }
        let end = inputRange.lowerBound + count
        destination.copyMemory(from: UnsafeRawBufferPointer(rebasing: input[inputRange.lowerBound..<end]))
        inputRange = end..<inputRange.upperBound
        return count
    }

    /// Takes all that OpenSSL writes; the caller of the engine bounds it by sending.
    fileprivate func append(_ bytes: UnsafeRawBufferPointer) {
        if bytes.count > output.count - outputRange.upperBound { makeRoom(for: bytes.count) }
        let end = outputRange.upperBound + bytes.count
        UnsafeMutableRawBufferPointer(rebasing: output[outputRange.upperBound..<end]).copyMemory(from: bytes)
        outputRange = outputRange.lowerBound..<end
    }

    /// Moves the waiting bytes to the front while at most half is in use, else doubles the size: either way each byte moves a few
    /// times at most.
    private func makeRoom(for count: Int) {
        let needed = outputRange.count + count
        if needed <= output.count / 2 {
            output.copyMemory(from: UnsafeRawBufferPointer(rebasing: output[outputRange]))
            outputRange = 0..<outputRange.count
        } else {
            var size = output.count
            while size < needed { size *= 2 }
            moveOutput(toSize: size)
        }
    }

    private func moveOutput(toSize size: Int) {
        let moved = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 64)
        moved.copyMemory(from: UnsafeRawBufferPointer(rebasing: output[outputRange]))
        output.deallocate()
        output = moved
        outputRange = 0..<outputRange.count
    }

    private static func at(_ bio: OpaquePointer?) -> Buffers? {
        BIO_get_data(bio).map { Unmanaged<Buffers>.fromOpaque($0).takeUnretainedValue() }
    }

    /// OpenSSL's view of the two buffers.
    ///
    /// Made once and kept: methods are never freed while connections use them.
    nonisolated(unsafe) static let method: OpaquePointer? = {  // immutable once made
        let method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "buffers")
        BIO_meth_set_write(method) { bio, bytes, count in
            guard let buffers = at(bio), let bytes, count > 0 else { return 0 }
            buffers.append(UnsafeRawBufferPointer(start: bytes, count: Int(count)))
            return count
        }
        BIO_meth_set_read(method) { bio, bytes, count in
            pc_bio_clear_retry(bio)
            guard let buffers = at(bio), let bytes, count > 0 else { return 0 }
            let taken = buffers.take(UnsafeMutableRawBufferPointer(start: bytes, count: Int(count)))
            if taken > 0 { return CInt(taken) }
            pc_bio_set_retry_read(bio)
            return -1
        }
        BIO_meth_set_ctrl(method) { _, command, _, _ in command == BIO_CTRL_FLUSH ? 1 : 0 }
        return method
    }()
}

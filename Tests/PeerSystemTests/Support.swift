import Glibc
import PeerModel
import Synchronization

@testable import PeerSystem

/// What happened, noted from any thread.
final class Log<Entry: Sendable>: Sendable {
    private let noted = Mutex<[Entry]>([])
    var entries: [Entry] { noted.withLock { $0 } }
    func note(_ entry: Entry) { noted.withLock { $0.append(entry) } }
}

/// The first value that `body` sends; `nil` when it ends without one, or the test's time is over.
func first<Value: Sendable>(
    _ body: (AsyncStream<Value>.Continuation) throws -> Void
) async rethrows -> Value? {
    let (stream, sink) = AsyncStream.makeStream(of: Value.self)
    try body(sink)
    for await value in stream { return value }
    return nil
}

/// What `body` gives on the loop's thread.
func on<Value: Sendable>(_ loop: EventLoop, _ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    let result: Result<Value, any Error>? = await first { sink in loop.post { sink.yield(Result { try body() }) } }
    guard let result else { throw CancellationError() }
    return try result.get()
}

/// Two connected descriptors that do not block.
struct Ends: Sendable {
    let near: SharedDescriptor
    let far: SharedDescriptor

    init() throws {
        var raw: [CInt] = [-1, -1]
        let kind = CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue) | CInt(SOCK_NONBLOCK.rawValue)
        try retrying("socketpair") { Int(socketpair(AF_UNIX, kind, 0, &raw)) }
        near = SharedDescriptor(OwnedDescriptor(owning: raw[0]))
        far = SharedDescriptor(OwnedDescriptor(owning: raw[1]))
    }

    func writeFar() throws { try retrying("write") { write(far.descriptor.raw, "x", 1) } }
}

let loopback: [PeerAddress.IP] = NetworkInterface.current().filter(\.isLoopback).flatMap(\.addresses).map(\.address.ip)

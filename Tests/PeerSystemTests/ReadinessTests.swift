import Glibc
import PeerModel
import Testing

@testable import PeerSystem

@Suite(.timeLimit(.minutes(8))) struct ReadinessTests {
    @Test("A descriptor with something to read is told of again until it is read")
    func levels() async throws {
        let loop = try EventLoop()
        defer { loop.stop() }
        let ends = try Ends()
        let log = Log<Readiness>()
        let token: UInt64? = try await first { sink in
            loop.post {
                let token = Log<UInt64>()
                let registered = try? loop.register(ends.near.descriptor, .readable) { readiness in
                    log.note(readiness)
                    if log.entries.count == 3 { for token in token.entries { sink.yield(token) } }
                    if log.entries.count == 3 { for token in token.entries { loop.unregister(token) } }
                }
                if let registered { token.note(registered) } else { sink.finish() }
            }
            try ends.writeFar()
        }
        #expect(token != nil)
        #expect(log.entries == [.readable, .readable, .readable])
    }

    @Test("A descriptor is told of for what it is registered for, and after an update for the new")
    func update() async throws {
        let loop = try EventLoop()
        defer { loop.stop() }
        let ends = try Ends()
        let log = Log<Readiness>()
        // It is writable all the time, which must not be told while only reading is waited for.
        let token = try await on(loop) { try loop.register(ends.near.descriptor, .readable) { log.note($0) } }
        try await on(loop) {}
        #expect(log.entries == [])
        let got: Readiness? = await first { sink in
            loop.post {
                loop.unregister(token)
                let second = try? loop.register(ends.near.descriptor, []) { readiness in sink.yield(readiness) }
                if let second { loop.update(second, .writable) } else { sink.finish() }
            }
        }
        #expect(got == .writable)
    }

    @Test("The end of the other side is told as such and is readiness for everything, so that the next call tells more")
    func hangUp() async throws {
        let loop = try EventLoop()
        defer { loop.stop() }
        let ends = try Ends()
        let got: Readiness? = try await first { sink in
            loop.post {
                let token = try? loop.register(ends.near.descriptor, []) { readiness in sink.yield(readiness) }
                if token == nil { sink.finish() }
            }
            try retrying("shutdown") { Int(shutdown(ends.far.descriptor.raw, CInt(SHUT_RDWR))) }
        }
        #expect(got == [.readable, .writable, .broken])
    }

    @Test("An event that waits when its registration ends is not delivered, also if the number is in use again")
    func reusedNumber() async throws {
        let loop = try EventLoop()
        defer { loop.stop() }
        let (left, right, fresh) = (try Ends(), try Ends(), try Ends())
        let log = Log<String>()
        let tokens = Log<(name: String, token: UInt64)>()
        // Both are ready before the loop looks, so it finds both events at once. Whichever it delivers first ends the other
        // registration and puts a quiet descriptor under the other's number.
        @Sendable func called(_ name: String, other: Ends, _ done: AsyncStream<Void>.Continuation) {
            log.note(name)
            for entry in tokens.entries { loop.unregister(entry.token) }
            dup2(fresh.near.descriptor.raw, other.near.descriptor.raw)
            let token = try? loop.register(other.near.descriptor, .readable) { _ in log.note("the new one") }
            if token == nil { log.note("not registered") }
            loop.post { done.yield() }  // after all events of this turn
        }
        _ = try await first { done in
            try left.writeFar()
            try right.writeFar()
            loop.post {
                for (name, own, other) in [("left", left, right), ("right", right, left)] {
                    let token = try? loop.register(own.near.descriptor, .readable) { _ in
                        called(name, other: other, done)
                    }
                    if let token { tokens.note((name, token)) } else { done.finish() }
                }
            }
        }
        #expect(log.entries == ["left"] || log.entries == ["right"])
    }

    @Test("A descriptor that cannot be waited for is an error, and nothing stays registered")
    func closed() async throws {
        let loop = try EventLoop()
        defer { loop.stop() }
        let code: CInt = try await on(loop) {
            do throws(SystemError) {
                _ = try loop.register(raw: -1, .readable) { _ in }
                return 0
            } catch { return error.code }
        }
        #expect(code == EBADF)
    }
}

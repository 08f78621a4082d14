import PeerModel
import Testing

@testable import PeerSystem

@Suite(.timeLimit(.minutes(8))) struct EventLoopTests {
    @Test("Timers fire in the order of their times, whatever order they were set in")
    func timers() async throws {
        let loop = try EventLoop()
        defer { loop.stop() }
        let (stream, sink) = AsyncStream.makeStream(of: Int.self)
        loop.post {
            let now = BootClock.now()
            for step in [3, 1, 2] {
                loop.schedule(at: now + Double(step) / 100) {
                    sink.yield(step)
                    if step == 3 { sink.finish() }
                }
            }
        }
        var fired: [Int] = []
        for await step in stream { fired.append(step) }
        #expect(fired == [1, 2, 3])
    }

    @Test("Times that have passed fire at once, and one may cancel another of the same moment")
    func cancelledTimer() async throws {
        let loop = try EventLoop()
        defer { loop.stop() }
        let log = Log<String>()
        _ = await first { sink in
            loop.post {
                let past = Instant(nanoseconds: 0)
                let victim = Log<UInt64>()
                loop.schedule(at: past) {
                    log.note("first")
                    for token in victim.entries { loop.cancel(token) }
                }
                victim.note(loop.schedule(at: past) { log.note("cancelled") })
                loop.schedule(at: past) {
                    log.note("last")
                    sink.yield()
                }
            }
        }
        #expect(log.entries == ["first", "last"])
    }

    private actor Counter {
        private let loop: EventLoop
        nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
        private var count = 0
        init(_ loop: EventLoop) { self.loop = loop }
        func add() -> (count: Int, isOnLoop: Bool) {
            count += 1
            return (count, loop.isCurrent)
        }
    }

    @Test("An actor may run on the loop, and the loop's callbacks are inside it")
    func executor() async throws {
        let loop = try EventLoop()
        defer { loop.stop() }
        let counter = Counter(loop)
        #expect(await counter.add() == (1, true))
        #expect(try await on(loop) { counter.assumeIsolated { $0.add().count } } == 2)
        #expect(!loop.isCurrent)
    }

    @Test("What several threads post runs on the loop's thread, each thread's in its order")
    func posts() async throws {
        let loop = try EventLoop()
        defer { loop.stop() }
        let log = Log<(thread: Int, number: Int, isOnLoop: Bool)>()
        _ = try await first { sink in
            for thread in 0..<4 {
                try BlockingThread.spawn("poster") {
                    for number in 0..<200 {
                        loop.post {
                            log.note((thread, number, loop.isCurrent))
                            if log.entries.count == 800 { sink.yield() }
                        }
                    }
                }
            }
        }
        for thread in 0..<4 {
            #expect(log.entries.filter { $0.thread == thread }.map(\.number) == Array(0..<200))
        }
        #expect(!log.entries.contains { !$0.isOnLoop })
    }

    private final class Farewell: Sendable {
        private let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
        deinit { body() }
    }

    @Test("A stopped loop runs what is queued, and its thread ends and lets go of everything")
    func stop() async throws {
        let log = Log<String>()
        _ = try await first { sink in
            let loop = try EventLoop()
            let farewell = Farewell { sink.yield() }
            loop.post {
                loop.schedule(at: BootClock.now() + 86_400) { _ = farewell }
                loop.post { log.note("queued") }
                loop.stop()
            }
        }
        #expect(log.entries == ["queued"])
    }
}

import Testing

@testable import PeerDiscovery

@Suite("When things are done on discovery's thread", .timeLimit(.minutes(8)))
struct PacingTests {
    @Test(
        "Timers come in the order they are due, those of one moment in the order they were set, and cancelled ones never"
    )
    func order() {
        var queue = TimerQueue(), fired: [Int] = [], expected: [(due: Int, number: Int)] = []
        let start = ContinuousClock.now
        for number in 0..<2000 {
            let due = number * 7919 % 50
            let timer = queue.add(due: start + .seconds(due)) { fired.append(number) }
            if number * 104_729 % 7 < 2 { queue.cancel(timer) } else { expected.append((due, number)) }
        }
        #expect(queue.count == expected.count)
        for second in 0..<50 { while let timer = queue.take(at: start + .seconds(second)) { timer.fire() } }
        #expect(fired == expected.sorted { ($0.due, $0.number) < ($1.due, $1.number) }.map(\.number))
        #expect(queue.next == nil)
    }

    @Test(
        "A timer that is cancelled by another of the same moment does not fire, and one that was added waits for the next turn"
    )
    func cancelled() async throws {
        try await onThread {
            let loop = try #require(PollLoop())
            var fired: [String] = [], second: PollLoop.Timer?
            loop.after(0) {
                fired.append("first")
                second?.cancel()
                loop.after(0) { fired.append("third") }
            }
            second = loop.after(0) { fired.append("second") }
            loop.turn(milliseconds: 50)
            #expect(fired == ["first"])
            #expect(loop.run { fired == ["first", "third"] } && second?.isPending == false)
        }
    }

    @Test("The loop hears what comes while calls are made, and one step is made however little time there is")
    func rest() async throws {
        try await onThread {
            let loop = try #require(PollLoop()), clock = ContinuousClock()
            let pacer = CallPacer(on: loop)
            var left = 40
            var turns: [(begin: ContinuousClock.Instant, end: ContinuousClock.Instant, calls: Duration)] = []
            let part = CallPacer.Part(seconds: 0.01) { limit in
                let begin = clock.now, before = loop.timeInCalls
                repeat {
                    loop.call { block(0.006) }
                    left -= 1
                } while left > 0 && clock.now < limit
                turns.append((begin, clock.now, loop.timeInCalls - before))
                return left > 0
            }
            pacer.does([part])
            pacer.wake()
            #expect(loop.run { left == 0 })
            for (earlier, later) in zip(turns, turns.dropFirst()) {
                #expect(later.begin - earlier.end >= min(earlier.calls, .milliseconds(250)) * 0.9)
            }
            #expect(turns.count > 1)
        }
    }

    @Test("Calls that others make in a quiet hour keep no newcomer waiting, and neither does one that hangs")
    func quietHour() async throws {
        try await onThread {
            let loop = try #require(PollLoop()), clock = ContinuousClock()
            let pacer = CallPacer(on: loop)
            var turns = 0
            pacer.does([
                CallPacer.Part(seconds: 0.01) { _ in
                    turns += 1
                    return false
                }
            ])
            pacer.wake()
            #expect(loop.run { turns == 1 })
            loop.pass(0.05)
            for round in 2...3 {
                // As many calls as an hour has; three seconds tell as much.
                loop.call { block(3) }
                let start = clock.now
                pacer.wake()
                #expect(loop.run { turns == round })
                #expect(clock.now - start < .seconds(2))
            }
        }
    }
}

/// Keeps the thread, as a call of Avahi's does.
func block(_ seconds: Double) {
    let clock = ContinuousClock(), end = clock.now + .seconds(seconds)
    while clock.now < end {}
}

import PeerModel
import Testing

@testable import PeerProtocol

@Suite("Liveness of a connection")
struct LivenessTests {
    private func at(_ seconds: Double) -> Instant { Instant(nanoseconds: 0) + seconds }

    private func expect(
        _ action: Liveness.Action?, _ expected: Liveness.Action?, _ location: SourceLocation = #_sourceLocation
    ) {
        #expect(action == expected, sourceLocation: location)
    }

    @Test("After 4 s of silence it asks once, after 12 s the other side is dead")
    func silence() {
        var liveness = Liveness(now: at(0))
        #expect(liveness.deadline == at(4))
        expect(liveness.timerFired(now: at(3.9)), nil)
        expect(liveness.timerFired(now: at(4)), .ping)
        #expect(liveness.deadline == at(12))
        expect(liveness.timerFired(now: at(8)), nil)
        expect(liveness.timerFired(now: at(12)), .dead)
    }

    @Test("Anything that comes starts the silence anew")
    func received() {
        var liveness = Liveness(now: at(0))
        _ = liveness.timerFired(now: at(4))
        liveness.received(now: at(11))
        expect(liveness.timerFired(now: at(12)), nil)
        #expect(liveness.deadline == at(15))
        expect(liveness.timerFired(now: at(15)), .ping)
        expect(liveness.timerFired(now: at(23)), .dead)
    }

    @Test("A ping every 4 s is always answered, hundreds at once are not")
    func pings() {
        var liveness = Liveness(now: at(0))
        let regular = (1...100).count { liveness.ping(now: at(Double($0) * 4)) }
        #expect(regular == 100)
        let answered = (0..<500).count { _ in liveness.ping(now: at(500)) }
        #expect(answered == 16)
    }

    @Test("While nothing is read the other side is told every 2 s, and its silence does not count")
    func paused() {
        var liveness = Liveness(now: at(0))
        liveness.pause(now: at(3))
        #expect(liveness.deadline == at(5))
        expect(liveness.timerFired(now: at(4.9)), nil)
        expect(liveness.timerFired(now: at(5)), .pong)
        expect(liveness.timerFired(now: at(100)), .pong)
        liveness.resume(now: at(101))
        #expect(liveness.deadline == at(102))
        expect(liveness.timerFired(now: at(102)), .ping)
        expect(liveness.timerFired(now: at(109.9)), nil)
        expect(liveness.timerFired(now: at(110)), .dead)
    }

    @Test("The pings of a time in which nothing was read may come all at once")
    func pausedPings() {
        var liveness = Liveness(now: at(0))
        liveness.pause(now: at(1))
        liveness.resume(now: at(401))
        let answered = (0..<100).count { _ in liveness.ping(now: at(401)) }
        #expect(answered == 100)
        let later = (0..<2000).count { _ in liveness.ping(now: at(500)) }
        #expect(later < 1000)
    }
}

import PeerModel
import Testing

@testable import PeerProtocol

@Suite("How long a chat waits for one that is behind")
struct CrowdTests {
    private func instant(_ seconds: Double) -> Instant { Instant(nanoseconds: 0) + seconds }

    @Test("A crowd begins above the mark and ends well below it, and lasts a minute at most")
    func marks() {
        var crowd = Crowd(at: instant(0))
        crowd.note(waiting: Crowd.above, sent: 0, at: instant(1))
        #expect(!crowd.isCrowded && crowd.deadline == nil)
        crowd.note(waiting: Crowd.above + 1, sent: 0, at: instant(2))
        #expect(crowd.deadline == instant(2 + Limits.crowded))
        crowd.note(waiting: Crowd.below + 1, sent: 1, at: instant(3))
        #expect(crowd.isCrowded)
        crowd.note(waiting: Crowd.below, sent: 1, at: instant(4))
        #expect(!crowd.isCrowded)
    }

    @Test("Who makes the others wait again and again is waited for less each time; who takes a pause is forgiven")
    func again() throws {
        var crowd = Crowd(at: instant(0)), now = 0.0
        var waits: [Double] = []
        for _ in 0..<3 {
            crowd.note(waiting: Crowd.above + 1, sent: 0, at: instant(now))
            waits.append(try #require(crowd.deadline) - instant(now))
            now += min(50, waits[waits.count - 1] - 0.5)
            crowd.note(waiting: 0, sent: 875_000, at: instant(now))
            now += 1.5
        }
        #expect(waits[0] == Limits.crowded && waits[1] < 30 && waits[2] < 20)
        now += 600
        crowd.note(waiting: Crowd.above + 1, sent: 0, at: instant(now))
        #expect(try #require(crowd.deadline) - instant(now) > 59)
    }

    @Test("A slow link that goes on taking what it can is waited for as long as there is something to send")
    func slowLink() {
        var crowd = Crowd(at: instant(0)), now = 0.0
        for _ in 0..<1000 {
            crowd.note(waiting: Crowd.above + 1, sent: 0, at: instant(now))
            now += 8  // 768 KiB at 96 KiB/s
            #expect(crowd.deadline.map { $0 > instant(now) } == true)
            crowd.note(waiting: Crowd.below, sent: 768 << 10, at: instant(now))
            now += 0.01
        }
    }
}

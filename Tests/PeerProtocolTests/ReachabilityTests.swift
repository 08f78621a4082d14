import PeerModel
import PeerTLS
import Testing

@testable import PeerProtocol

@Suite("Peers that do not answer")
struct ReachabilityTests {
    private let ada = PeerID(SHA256.hash([1])), bob = PeerID(SHA256.hash([2]))

    private func at(_ seconds: Double) -> Instant { Instant(nanoseconds: 0) + seconds }

    @Test("After a broken connection a peer is asked at once, and hidden when it does not answer")
    func broken() {
        var peers = Reachability()
        peers.broke(ada, at: at(10))
        let isListed = !peers.isHidden(ada), asked = peers.next(at: at(10)), again = peers.next(at: at(11))
        #expect(isListed && asked == ada && again == nil)
        let isNew = peers.failed(ada, at: at(15))
        #expect(isNew && peers.isHidden(ada))
    }

    @Test("It is asked after 5, 15, 30 and then every 60 s, and listed when it answers")
    func pauses() {
        var peers = Reachability(), now = 0.0
        var isNew = [peers.failed(ada, at: at(0))]
        for pause in [5.0, 15, 30, 60, 60, 60] {
            let early = peers.next(at: at(now + pause - 0.1))
            #expect(early == nil)
            now += pause
            #expect(peers.deadline == at(now))
            let asked = peers.next(at: at(now))
            #expect(asked == ada)
            isNew.append(peers.failed(ada, at: at(now)))
        }
        #expect(isNew == [true] + [Bool](repeating: false, count: 6))
        let isBack = peers.answered(ada), isBackAgain = peers.answered(ada)
        #expect(isBack && !isBackAgain && peers.deadline == nil)
    }

    @Test("News of it, or of the own network, make it worth asking at once; what is being asked is not asked twice")
    func stirred() {
        var peers = Reachability()
        _ = peers.failed(ada, at: at(0))
        _ = peers.failed(bob, at: at(0))
        peers.stirred(ada, at: at(1))
        let first = peers.next(at: at(1)), none = peers.next(at: at(1.5))
        #expect(first == ada && none == nil)
        peers.stirredAll(at: at(2))
        let second = peers.next(at: at(2)), stillAsked = peers.next(at: at(3))
        #expect(second == bob && stillAsked == nil)
    }

    @Test("News that come while it is being asked make it asked again at once, once, however often it failed before")
    func stirredMeanwhile() {
        var peers = Reachability()
        for second in 0..<5 { _ = peers.failed(ada, at: at(Double(second))) }
        let first = peers.next(at: at(64))
        peers.stirred(ada, at: at(65))
        peers.stirredAll(at: at(66))
        let meanwhile = peers.next(at: at(67))
        _ = peers.failed(ada, at: at(68))
        #expect(first == ada && meanwhile == nil && peers.deadline == at(68))
        let second = peers.next(at: at(68))
        _ = peers.failed(ada, at: at(70))
        #expect(second == ada && peers.deadline == at(75))
        peers.broke(bob, at: at(71))
        let third = peers.next(at: at(71))
        peers.stirred(bob, at: at(72))
        _ = peers.answered(bob)
        #expect(third == bob && peers.deadline == at(75))
    }

    @Test("No more than ten are asked in a second")
    func flood() {
        var peers = Reachability()
        for number in 0..<100 { peers.broke(PeerID(SHA256.hash([UInt8(number)])), at: at(0)) }
        var asked = 0
        for step in 0..<100 where peers.next(at: at(Double(step) / 100)) != nil { asked += 1 }
        #expect(asked == 10)
    }
}

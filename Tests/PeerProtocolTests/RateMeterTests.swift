import PeerModel
import Testing

@testable import PeerProtocol

@Suite("Progress and its rate")
struct RateMeterTests {
    private func at(_ seconds: Double) -> Instant { Instant(nanoseconds: 0) + seconds }

    @Test("Told once a second at most, and at the end; the rate follows within three seconds")
    func rate() {
        var meter = RateMeter()
        var told: [UInt64?] = [meter.note(0, of: 1000, at: at(0))]
        for tenth in 1...30 { told.append(meter.note(UInt64(tenth) * 10, of: 1000, at: at(Double(tenth) / 10))) }
        #expect(told.compactMap(\.self).count == 4)
        let steady = meter.note(400, of: 1000, at: at(4))
        #expect(steady.map { (95...105).contains($0) } == true)
        var faster: UInt64?
        for second in 5...7 { faster = meter.note(UInt64(400 + (second - 4) * 190), of: 1000, at: at(Double(second))) }
        #expect(faster.map { (165...195).contains($0) } == true)
        let end = meter.note(1000, of: 1000, at: at(7.01))
        #expect(end != nil)
    }

    @Test("What does not grow is not told")
    func noGrowth() {
        var meter = RateMeter()
        _ = meter.note(10, of: 100, at: at(0))
        let same = meter.note(10, of: 100, at: at(5)), less = meter.note(5, of: 100, at: at(6))
        #expect(same == nil && less == nil)
    }
}

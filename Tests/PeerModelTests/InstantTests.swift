import PeerModel
import Testing

@Suite struct InstantTests {
    @Test("Adding seconds and taking the difference agree")
    func sums() {
        let start = Instant(nanoseconds: 5)
        #expect(start + 1.5 == Instant(nanoseconds: 1_500_000_005))
        #expect((start + 1.5) - start == 1.5)
        #expect(start + -1 < start)
    }

    @Test("No number of seconds goes beyond the ends of the clock", arguments: [1e300, .infinity, 1e10])
    func ends(seconds: Double) {
        #expect(Instant(nanoseconds: .max) + seconds == Instant(nanoseconds: .max))
        #expect(Instant(nanoseconds: .min) + -seconds == Instant(nanoseconds: .min))
        #expect(Instant(nanoseconds: 0) + seconds > Instant(nanoseconds: 0))
    }
}

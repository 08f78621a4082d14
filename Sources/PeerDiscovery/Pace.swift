/// How many newcomers are asked about at a time, and whether they are believed in.
struct Pace {
    /// How long an answer may have to wait behind others, in seconds, and how many are asked about at a time all the same.
    private static let latency = 0.3
    private static let atLeast = 8
    /// How many more have to be silent than to answer.
    private static let distrustAbove = 32
    private static let mostDistrust = 256

    private var distrust = 0
    /// How long the call that begins one has taken of late, in seconds.
    private var cost = 0.0

    /// Whether many have not answered, so that there may be nobody behind most names.
    var isDistrustful: Bool { distrust > Self.distrustAbove }

    /// Fewer when the daemon is slow, since each answer waits behind the other ones.
    var places: Int { max(Self.atLeast, min(Newcomers.atOnce, Int(Self.latency / max(cost, 0.0001)))) }

    /// How many steps of other kinds are taken at a time while newcomers are not believed in.
    var step: Int { max(1, min(8, places / 16)) }

    mutating func judge(isSilent: Bool) {
        distrust = min(max(0, distrust + (isSilent ? 1 : -1)), Self.mostDistrust)
    }

    mutating func note(_ time: Duration, for count: Int) {
        guard count > 0 else { return }
        cost = cost * 0.75 + time / .seconds(1) / Double(count) * 0.25
    }
}

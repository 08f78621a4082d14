internal import PeerModel

/// Where a command writes: results to `out`, everything else to `err`.
///
/// Tests pass closures that collect; the program passes writers of descriptors 1 and 2.
struct Console: Sendable {
    /// Takes whole lines, line feed included.
    let writeOut: @Sendable (String) -> Void
    /// Takes whole lines, line feed included.
    let writeErr: @Sendable (String) -> Void
    /// Milliseconds since 1970.
    let now: @Sendable () -> Int64
    var isJSON = false
    var isVerbose = false
    /// Foreign text on standard output is read by a person, not by a program.
    var outIsTerminal = false

    func out(_ line: String) { writeOut(line + "\n") }

    func err(_ line: String) { writeErr(line + "\n") }

    func emit(_ event: JSONEvent) { out(event.line(now: now())) }

    /// Says what failed and what to do next, in the form the run is in.
    func report(_ error: PeerConnectError) {
        if isJSON { emit(.error(error)) }
        guard !isJSON || isVerbose else { return }
        err(SafeText.line(error.message))
        if let hint = error.hint { err("  " + SafeText.line(hint)) }
        for peer in error.candidates { err("  \(SafeText.line(peer.name)) \(peer.id)") }
        if isVerbose, let cause = error.cause { err("  cause: " + SafeText.line("\(cause)")) }
    }
}

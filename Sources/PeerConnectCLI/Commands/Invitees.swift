internal import PeerModel

/// The peers of `--invite`, looked for until all are there or the time is up.
struct Invitees: Sendable {
    private static let pause = Duration.milliseconds(250)

    var references: [PeerReference] = []
    /// One for each that was not found.
    var problems: [PeerConnectError] = []

    /// Asks again every quarter of a second; an error that waiting does not mend is not waited for.
    static func find(
        _ wanted: [PeerReference], in session: any NodeSession, within wait: Duration,
        sleep: @Sendable (Duration) async throws -> Void
    ) async -> Invitees {
        var remaining = wait
        while true {
            var found = Invitees(), isWorthWaiting = false
            for reference in wanted {
                if let problem = await Self.problem(with: reference, in: session) {
                    found.problems.append(problem)
                    // The peer that holds the name may still come.
                    isWorthWaiting = isWorthWaiting || problem.code == .noSuchPeer || problem.code == .wrongKey
                } else {
                    found.references.append(reference)
                }
            }
            guard isWorthWaiting, remaining > .zero, (try? await sleep(pause)) != nil else { return found }
            remaining -= pause
        }
    }

    /// `nil` when the peer is in the list, or is an address.
    static func problem(with reference: PeerReference, in session: any NodeSession) async -> PeerConnectError? {
        do {
            guard let id = try await session.resolve(reference), !isDialled(reference) else { return nil }
            if await session.snapshot().peers.contains(where: { $0.peer.id == id }) { return nil }
            return PeerConnectError(
                .noSuchPeer, "\(reference.text) is not on this network.", hint: "peerconnect browse shows who is there."
            )
        } catch {
            return error
        }
    }

    /// 4 when someone answered, 3 when nobody could be reached.
    static func status(of answers: [Answer]) -> ExitStatus {
        let reached = answers.contains { answer in
            switch answer {
            case .accepted, .declined, .busy, .timeout, .incompatible: true
            case .unreachable, .wrongKey: false
            }
        }
        return reached ? .notAccepted : .notReachable
    }

    /// `ID@host:port` needs no advert.
    private static func isDialled(_ reference: PeerReference) -> Bool {
        guard let end = reference.text.firstIndex(of: "@") else { return false }
        return PeerID(String(reference.text[..<end])) != nil
    }
}

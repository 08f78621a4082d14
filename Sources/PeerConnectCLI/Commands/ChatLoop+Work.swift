internal import PeerConnect
internal import PeerModel

/// What a line at the prompt asks for that takes longer than a frame of the screen.
enum ChatWork: Sendable {
    case verify(PeerReference)
    case rename(DisplayName)

    /// What came of it.
    enum Outcome: Sendable {
        case verified(Peer, words: [String], trust: String)
        case renamed(Peer)
        case failed(PeerConnectError)
    }
}

extension ChatLoop {
    /// Begins it; until it is done no other line is looked at, and everything else goes on.
    mutating func begin(_ work: ChatWork, line: Int) {
        isWorking = true
        // Not even while one waits for a chat that is to begin.
        let isTaken = state.isInChat || state.holdsTexts
        queue.run { [session, home = run.home] in
            do throws(PeerConnectError) {
                switch work {
                case .verify(let reference): return .worked(line, try await Self.verify(reference, in: session))
                case .rename(let name):
                    let renamed = try await Self.rename(to: name, in: session, home, isTaken: isTaken)
                    return .worked(line, .renamed(renamed))
                }
            } catch {
                return .worked(line, .failed(error))
            }
        }
    }

    private static func verify(
        _ reference: PeerReference, in session: any NodeSession
    ) async throws(PeerConnectError) -> ChatWork.Outcome {
        let (id, peer) = try await whom(reference, in: session)
        let words = try await Verification.words(for: session.me.id, and: id)
        // A number stays its peer's for the whole run, so no other can take its place; a name does not.
        let number = await session.snapshot().peers.first { $0.peer.id == id }?.number
        return .verified(peer, words: words, trust: "/trust \(number.map { "\($0)" } ?? id.description)")
    }

    /// First what is stored, which may refuse; taken back when it is too late for the network.
    private static func rename(
        to name: DisplayName, in session: any NodeSession, _ home: any Home, isTaken: Bool
    ) async throws(PeerConnectError) -> Peer {
        guard !isTaken else {
            throw PeerConnectError(
                .busy, "Your name stays as it is during a chat.", hint: "Change it when the chat is over.")
        }
        guard let old = try? DisplayName(session.me.name) else {
            throw PeerConnectError(
                .internal, "Your present name is none that is stored.",
                hint: "Leave, and type peerconnect id rename NEW.")
        }
        try await onThread { () throws(PeerConnectError) in try home.rename(old, to: name) }
        do throws(PeerConnectError) {
            try await session.rename(to: name)
        } catch {
            try await onThread { () throws(PeerConnectError) in try home.rename(name, to: old) }
            throw error
        }
        return session.me
    }

    mutating func take(_ outcome: ChatWork.Outcome, line: Int) {
        isWorking = false
        switch outcome {
        case .failed(let error): teller.refuse(line, error)
        case .verified(let peer, let words, let trust):
            let fields: [(key: String, value: JSONValue)] = [
                ("peer", peer.json), ("words", .array(words.map { .string($0) })),
            ]
            teller.answer(line, fields, VerificationWords.sentences(peer, words, trust: trust))
        case .renamed(let me):
            teller.rename(me)
            teller.answer(
                line, [("peer", me.json)], ["You are \(NameBook.withID(me)) from now on; your key is the same."])
        }
    }
}

/// The words of a verification, as they are shown.
enum VerificationWords {
    /// Compared by people who hear each other, so in rows of four.
    static func sentences(_ peer: Peer, _ words: [String], trust: String) -> [String] {
        let name = peer.name.isEmpty ? peer.id.short : NameBook.withID(peer)
        let rows = stride(from: 0, to: words.count, by: 4).map { start in
            "  " + words[start..<min(start + 4, words.count)].joined(separator: " ")
        }
        return ["Compare these words with \(name), by voice or face to face, not in a chat."] + rows
            + ["If all are the same, it has the key you think. Then type \(trust)"]
    }
}

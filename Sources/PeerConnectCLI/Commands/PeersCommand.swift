internal import PeerConnect
internal import PeerModel

/// `peerconnect peers`: the known peers, and what the user thinks of them.
struct PeersCommand: Command {
    static let spec = CommandSpec(
        name: "peers", synopsis: "[list|trust|untrust|block|unblock|forget|verify PEER…]",
        summary: "show, trust and block the peers you know",
        options: [],
        notes: [
            "list            name, ID, known, trusted or blocked, and when last seen, separated by tabs",
            "trust PEER…     take files of these without asking, where --accept or --accept-files says trusted",
            "untrust PEER…   no longer",
            "block PEER…     decline all invitations and files of these, without asking and without telling them",
            "unblock PEER…   no longer",
            "forget PEER…    take these off the list",
            "verify PEER     words to compare with the one who has this ID, to be sure it is who you think",
            "A PEER is a full ID, also of one you never met, or the name or start of the ID of one you know.",
        ])

    private let change: KnownChange?
    private let isVerification: Bool
    private let peers: [PeerReference]

    init(_ arguments: ParsedArguments, _ world: World) throws(UsageError) {
        let verb = arguments.operands.first ?? "list"
        let verbs = ["list", "verify"] + KnownChange.allCases.map(\.rawValue)
        guard verbs.contains(verb) else {
            throw UsageError.unknown(verb: verb, of: "peers", among: verbs)
        }
        change = KnownChange(rawValue: verb)
        isVerification = verb == "verify"
        peers = arguments.operands.dropFirst().map { PeerReference($0) }
        guard (verb == "list") == peers.isEmpty else {
            throw UsageError("peers \(verb) takes \(verb == "list" ? "nothing more" : "at least one peer")")
        }
        guard !isVerification || peers.count == 1 else { throw UsageError("peers verify takes one peer") }
        guard !peers.contains(where: \.text.isEmpty) else { throw UsageError("peers \(verb) needs a peer") }
    }

    func run(_ run: Run) async throws -> ExitStatus {
        let records = try await records(run)
        let known = try await records.acquaintances()
        if isVerification { return try await verify(peers[0], known, run) }
        guard let change else {
            for peer in known.list { KnownRow.show(peer, run) }
            if known.list.isEmpty, !run.console.isJSON { run.console.err("Nobody is known yet.") }
            return .done
        }
        // All are found before any is changed.
        var ids: [PeerID] = []
        for peer in peers { ids.append(try known.resolve(peer)) }
        for id in ids {
            let after = try await change.apply(to: id, named: known.peer(id)?.peer.name ?? "", in: records)
            if let peer = after.peer(id) ?? known.peer(id) {
                KnownRow.show(peer, as: after.standing(of: peer.peer), run)
            }
        }
        return .done
    }
}

extension PeersCommand {
    /// Who has an identity here may trust and block before the first chat; nobody else makes anything by that.
    private func records(_ run: Run) async throws -> Records {
        func open(creating: Bool) async throws -> Records {
            try await Records.open(
                state: run.home.stateFolder, data: run.home.dataFolder, keepsHistory: false, creating: creating)
        }
        let records = try await open(creating: false)
        guard records.knownPeers == nil, change == .trust || change == .block else { return records }
        guard try !run.home.identities().isEmpty else {
            throw PeerConnectError(
                .noSuchPeer, "Nobody is known here, since there is no identity of yours yet.",
                hint: "peerconnect id new NAME makes one; then type this again.")
        }
        return try await open(creating: true)
    }

    /// Under the own identity of `--name`, or the current one.
    private func verify(_ peer: PeerReference, _ known: Acquaintances, _ run: Run) async throws -> ExitStatus {
        let id = try known.resolve(peer)
        let identities = try run.home.identities()
        let own = identities.first { identity in
            run.options.name.map { $0.description == identity.peer.name } ?? identity.isCurrent
        }
        guard let own else {
            guard run.options.name == nil, let first = identities.first else {
                throw PeerConnectError(
                    .noSuchPeer, "There is no identity of yours to verify with.",
                    hint: "peerconnect id list shows them.")
            }
            throw PeerConnectError(
                .noSuchPeer, "None of your identities is the current one.",
                hint: "Say which, as in --name \(ShellWord.quoted(first.peer.name)).")
        }
        guard id != own.peer.id else {
            throw PeerConnectError(
                .noSuchPeer, "That is your own identity.", hint: "peerconnect peers lists the others.")
        }
        let words = try await Verification.words(for: own.peer.id, and: id)
        let other = known.peer(id)?.peer ?? Peer(id: id, name: "")
        if run.console.isJSON {
            let fields: [(key: String, value: JSONValue)] = [
                ("peer", other.json), ("words", .array(words.map { .string($0) })),
            ]
            run.console.emit(JSONEvent("verification", fields))
        } else {
            let trust = "peerconnect peers trust \(id)"
            VerificationWords.sentences(other, words, trust: trust).forEach(run.console.out)
        }
        return .done
    }
}

/// A known peer as a line or a record.
enum KnownRow {
    static func show(_ peer: KnownPeer, as standing: Standing? = nil, _ run: Run) {
        let console = run.console
        let standing = standing ?? Self.standing(peer)
        guard !console.isJSON else {
            let fields: [(key: String, value: JSONValue)] = [
                ("peer", peer.peer.json), ("known", .string(standing.rawValue)),
                ("firstSeen", JSONValue(peer.firstSeen.map(Timestamp.rfc3339))),
                ("lastSeen", JSONValue(peer.lastSeen.map(Timestamp.rfc3339))),
            ]
            return console.emit(JSONEvent("known", fields))
        }
        let name = peer.peer.name.isEmpty ? "-" : SafeText.line(peer.peer.name)
        let seen = peer.lastSeen.map { Timestamp.local($0, run.world.localOffset) } ?? "-"
        console.out([name, peer.peer.id.description, standing.rawValue, seen].joined(separator: "\t"))
    }

    private static func standing(_ peer: KnownPeer) -> Standing {
        switch peer.trust {
        case .neutral: .known
        case .trusted: .trusted
        case .blocked: .blocked
        }
    }
}

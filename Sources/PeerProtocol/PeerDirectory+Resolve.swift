package import PeerModel

/// What a person meant by a peer reference.
package enum ResolvedPeer: Hashable, Sendable {
    /// A peer; without addresses when it is not visible.
    case peer(PeerID, addresses: [PeerAddress])
    /// Whoever answers there, or only the peer that is expected.
    case address(TypedAddress, expected: PeerID?)
}

extension PeerDirectory {
    /// Finds the peer or the address that `reference` means.
    ///
    /// Forms that leave nothing open come first, so that no peer can take them by choosing them as its name: a full ID,
    /// `ID@address`, an IP address. Then come visible and known peers together, by name, by the start of the ID (8
    /// characters or more, the hyphen of the short form may be there) and, if allowed, by number. Host names are last,
    /// and need a port or a dot.
    ///
    /// A name that a known peer holds means that peer only: whoever else bears it is not it.
    ///
    /// - Throws: `ambiguous` with the candidates, `wrong-key` when only another than the known peer bears the name, or
    ///   `no-such-peer`.
    package func resolve(_ reference: PeerReference, allowNumbers: Bool) throws(PeerConnectError) -> ResolvedPeer {
        let text = reference.text
        if let exact = exactMatch(text) { return exact }
        let matches = candidates(for: text, allowNumbers: allowNumbers)
        if matches.count > 1 { throw Self.ambiguous(text, matches) }
        if let match = matches.first {
            let others = impostors(of: match, under: text)
            guard others.isEmpty else { throw Self.wrongKey(text, match, others) }
            return resolved(match.id)
        }
        if let address = TypedAddress(text), address.port != nil || text.utf8.contains(UInt8(ascii: ".")) {
            return .address(address, expected: nil)
        }
        throw noSuchPeer(text, isNumber: allowNumbers && Int(text) != nil)
    }

    /// Finds the one in a chat that `reference` means: by name, ID or the start of one, or by its number in the list.
    ///
    /// - Throws: as `resolve`, and `no-such-peer` when it means someone who is not there.
    package func member(_ reference: PeerReference, among present: [Peer]) throws(PeerConnectError) -> PeerID {
        let text = reference.text, start = Self.plainID(text)
        if let id = PeerID(start) { return id }
        let named = present.filter { $0.name.lowercased() == text.lowercased() }
        let holders = Set(acquaintances.holders(of: text).map(\.id))
        let bearers = holders.isEmpty ? named : named.filter { holders.contains($0.id) }
        if bearers.isEmpty, !named.isEmpty, let holder = acquaintances.holders(of: text).first {
            throw Self.wrongKey(text, holder, named)
        }
        let number = Int(text).flatMap { peer(number: $0)?.id }
        let matches = present.filter { peer in
            bearers.contains(peer) || peer.id == number
                || start.utf8.count >= Self.shortestStart && peer.id.description.hasPrefix(start)
        }
        if matches.count > 1 { throw Self.ambiguous(text, matches) }
        if let match = matches.first { return match.id }
        guard case .peer(let id, _) = try resolve(reference, allowNumbers: true) else {
            throw PeerConnectError(.noSuchPeer, "\(text) is not in this chat.", hint: "/who lists who is.")
        }
        return id
    }

    private func resolved(_ id: PeerID) -> ResolvedPeer { .peer(id, addresses: peer(id)?.addresses ?? []) }

    private func exactMatch(_ text: String) -> ResolvedPeer? {
        if let id = PeerID(Self.plainID(text)) { return resolved(id) }
        if let address = TypedAddress(text), case .ip = address.host { return .address(address, expected: nil) }
        let parts = text.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let id = PeerID(Self.plainID(parts[0])), let address = TypedAddress(String(parts[1]))
        else { return nil }
        return .address(address, expected: id)
    }

    /// In the order of the list, each once.
    private func candidates(for text: String, allowNumbers: Bool) -> [Peer] {
        let start = Self.plainID(text)
        let isStart = start.utf8.count >= Self.shortestStart
        let named = Set(bearers(of: text).map(\.id))
        let unseen = acquaintances.list.map(\.peer).filter { self.peer($0.id) == nil }
        var found = (list.map(\.peer) + unseen).filter { peer in
            named.contains(peer.id) || isStart && peer.id.description.hasPrefix(start)
        }
        if allowNumbers, let number = Int(text), let peer = peer(number: number),
            !found.contains(where: { $0.id == peer.id })
        {
            found.append(peer)
        }
        return found
    }

    /// Those a name means: who holds it; else who is here under it; else who was only ever blocked under it.
    private func bearers(of name: String) -> [Peer] {
        let holders = acquaintances.holders(of: name)
        guard holders.isEmpty else { return holders }
        let here = list.map(\.peer).filter { $0.name.lowercased() == name.lowercased() }
        return here.isEmpty ? acquaintances.peers(named: name) : here
    }

    /// Those who bear a name whose known holder is not here.
    private func impostors(of holder: Peer, under text: String) -> [Peer] {
        guard peer(holder.id) == nil, acquaintances.holders(of: text).contains(where: { $0.id == holder.id })
        else { return [] }
        return list.map(\.peer).filter { $0.name.lowercased() == text.lowercased() }
    }

    /// 40 bits, as many as people are shown.
    private static let shortestStart = 8

    /// An ID, or its start, as `PeerID` writes it.
    private static func plainID(_ text: some StringProtocol) -> String {
        var text = text.lowercased()
        let bytes = text.utf8
        if let hyphen = bytes.index(bytes.startIndex, offsetBy: 4, limitedBy: bytes.endIndex), hyphen < bytes.endIndex,
            bytes[hyphen] == UInt8(ascii: "-")
        {
            text.unicodeScalars.remove(at: hyphen)
        }
        return text
    }

    private static func ambiguous(_ text: String, _ candidates: [Peer]) -> PeerConnectError {
        let starts = candidates.map(\.id.short).joined(separator: ", ")
        return PeerConnectError(
            .ambiguous, "“\(text)” could be \(candidates.count) peers: \(starts).",
            hint: "Type the start of the ID of the one you mean; ask its owner for it if you are not sure.",
            candidates: candidates)
    }

    private static func wrongKey(_ text: String, _ holder: Peer, _ others: [Peer]) -> PeerConnectError {
        let ids = others.map(\.id.description).joined(separator: ", ")
        return PeerConnectError(
            .wrongKey,
            "“\(text)” is a peer you know, \(holder.id.short), and not here; who bears the name now has another key.",
            hint: "If you mean the one who is here, type its ID: \(ids)", candidates: others)
    }

    private func noSuchPeer(_ text: String, isNumber: Bool) -> PeerConnectError {
        if isNumber {
            return PeerConnectError(
                .noSuchPeer, "No peer was listed with the number \(text).", hint: "Look at the list of peers again.")
        }
        let close = closeNames(to: text)
        return PeerConnectError(
            .noSuchPeer, "No peer “\(text)” is visible.",
            hint: close.isEmpty
                ? "Type a listed name, the start of an ID, or an address; a host name needs a port: laptop:27182."
                : "Did you mean \(close.joined(separator: " or "))?")
    }

    private static let suggestedAtMost = 3

    /// Names that begin with the text, or hold it; a name in full is asked for all the same, since who begins with what
    /// is the peers' choice.
    private func closeNames(to text: String) -> [String] {
        let text = text.lowercased()
        // One letter is in nearly every name, and nobody types 64 bytes to mean more.
        guard text.utf8.count > 1, text.utf8.count <= DisplayName.maximumBytes else { return [] }
        var seen: Set<String> = []
        let names = (list.map(\.peer) + acquaintances.list.map(\.peer)).map(\.name).filter { seen.insert($0).inserted }
        let starting = names.filter { $0.lowercased().hasPrefix(text) }
        let holding = starting.isEmpty ? names.filter { $0.lowercased().contains(text) } : []
        return (starting + holding).prefix(Self.suggestedAtMost).map { "“\(Self.typed($0))”" }
    }

    /// A name as it can be typed, at the prompt and in a shell.
    private static func typed(_ name: String) -> String {
        String(name.flatMap { " \t\"'\\*?[]".contains($0) ? ["\\", $0] : [$0] })
    }
}

internal import PeerModel
internal import PeerTerminal

/// What Tab offers at the prompt: commands, peers, numbers of what is open, paths; members' names in a message.
struct ChatCompleter {
    /// More are no help in a list.
    private static let atMost = 200

    let board: LiveBoard
    let names: NameBook
    let paths: PathExpander

    func candidates(_ query: CompletionQuery) -> [CompletionCandidate] {
        Array(all(query).prefix(Self.atMost))
    }

    private func all(_ query: CompletionQuery) -> [CompletionCandidate] {
        guard query.line.hasPrefix("/"), !query.line.hasPrefix("//") else {
            return query.word.hasPrefix("@") ? people(board.others, query.word) : addressees(query)
        }
        guard let command = query.earlier.first else {
            return PromptCommand.all.map { "/" + $0.name }.filter { $0.hasPrefix(query.word) }.map {
                CompletionCandidate($0)
            }
        }
        switch command {
        case "/invite": return people(board.peers.map(\.peer).filter { !isMember($0) }, query.word)
        case "/unblock" where query.earlier.count == 1:
            return people(board.peers.filter { $0.known == .blocked }.map(\.peer), query.word)
        case "/verify", "/trust", "/untrust", "/block":
            let unlisted = board.others.filter { other in !board.peers.contains { $0.peer.id == other.id } }
            return query.earlier.count == 1 ? people(board.peers.map(\.peer) + unlisted, query.word) : []
        case "/send" where query.word.hasPrefix("@") && !query.isLiteral: return people(board.others, query.word)
        case "/send": return files(query.word, isLiteral: query.isLiteral)
        case "/accept", "/decline": return numbers(board.openNumbers, query.word)
        case "/cancel": return numbers(board.transfers.filter { !$0.isOpen }.map(\.offer.number), query.word)
        case "/switch": return numbers(board.book.chats.map(\.number), query.word)
        case "/dnd": return ["on", "off"].filter { $0.hasPrefix(query.word) }.map { CompletionCandidate($0) }
        case "/help":
            return PromptCommand.all.map(\.name).filter { $0.hasPrefix(query.word) }.map { CompletionCandidate($0) }
        default: return []
        }
    }

    private func isMember(_ peer: Peer) -> Bool { board.others.contains { $0.id == peer.id } }

    /// By name, letter case ignored; namesakes by the start of their ID.
    private func people(_ peers: [Peer], _ word: String) -> [CompletionCandidate] {
        let mark = word.hasPrefix("@") ? "@" : ""
        let start = word.dropFirst(mark.count).lowercased()
        return peers.compactMap { peer in
            let id = String(peer.id.description.prefix(8))
            guard peer.name.lowercased().hasPrefix(start) || id.hasPrefix(start) else { return nil }
            let isUnique = names.shown(peer) != NameBook.withID(peer)
            return CompletionCandidate(mark + (isUnique ? peer.name : id), shown: names.shown(peer))
        }
    }

    /// Members whose name the last words begin, in a message; the first words of one get a colon, as in other chats.
    private func addressees(_ query: CompletionQuery) -> [CompletionCandidate] {
        guard !query.word.isEmpty else { return [] }
        return board.others.compactMap { peer in
            let parts = peer.name.split(separator: " ").map(String.init)
            // A name of several words goes on behind those that are there.
            for count in parts.indices.reversed() where query.earlier.count >= count {
                let before = parts[..<count], rest = parts[count...].joined(separator: " ")
                guard rest.lowercased().hasPrefix(query.word.lowercased()),
                    before.elementsEqual(query.earlier.suffix(count), by: { $0.lowercased() == $1.lowercased() })
                else { continue }
                let isFirst = query.earlier.count == count
                return CompletionCandidate(rest + (isFirst ? ":" : ""), shown: names.shown(peer))
            }
            return nil
        }
    }

    private func numbers(_ numbers: [Int], _ word: String) -> [CompletionCandidate] {
        let mark = word.hasPrefix("#") ? "#" : ""
        return numbers.map { mark + "\($0)" }.filter { $0.hasPrefix(word) }.map { CompletionCandidate($0) }
    }

    private func files(_ word: String, isLiteral: Bool) -> [CompletionCandidate] {
        let isAtHome = !isLiteral && paths.isAtHome(word)
        return paths.completions(of: word, isAtHome: isAtHome).map { path, isFolder in
            let shown = path.split(separator: "/").last.map(String.init) ?? path
            return CompletionCandidate(
                path + (isFolder ? "/" : ""), shown: shown + (isFolder ? "/" : ""), isWhole: !isFolder,
                start: isAtHome ? .home : .literal)
        }
    }
}

internal import PeerModel

/// The chats of this run: who is in them, which one is current, and how much is unread in the others; pure.
///
/// What is typed goes to the current chat. A chat that starts becomes it only while there is none: a line that is being
/// typed never goes to others than those it was begun for.
struct ChatBook: Sendable {
    struct Chat: Sendable {
        /// What the user types for it: given when it starts, never again in this run.
        let number: Int
        let id: ChatID
        let role: ChatRole
        let host: Peer
        /// All but the host, in the order they joined.
        var members: [Peer]
        /// Lines of others that came while another chat was current.
        var unread = 0

        /// Everyone, the host first.
        var everyone: [Peer] { [host] + members }
    }

    /// By number.
    private(set) var chats: [Chat] = []
    private var currentID: ChatID?
    private var lastNumber = 0

    /// The chat that what is typed goes to.
    var current: Chat? { chats.first { $0.id == currentID } }

    /// Those beside the current one that have unread lines.
    var unread: [Chat] { chats.filter { $0.unread > 0 } }

    func chat(_ id: ChatID) -> Chat? { chats.first { $0.id == id } }

    /// Whether what is said there waits to be looked at.
    func isElsewhere(_ id: ChatID) -> Bool { id != currentID && chat(id) != nil }

    mutating func note(_ event: NodeEvent) {
        switch event {
        case .chatStarted(let id, let role, let host, let members):
            lastNumber += 1
            chats.append(Chat(number: lastNumber, id: id, role: role, host: host, members: members))
            if currentID == nil { currentID = id }
        case .memberJoined(let id, let member):
            change(id) { chat in
                if !chat.members.contains(where: { $0.id == member.id }) { chat.members.append(member) }
            }
        case .memberLeft(let id, let member, _):
            change(id) { $0.members.removeAll { $0.id == member.id } }
        case .message(let message) where message.ref == nil && isElsewhere(message.chat):
            change(message.chat) { $0.unread += 1 }
        case .chatEnded(let id, _, _):
            chats.removeAll { $0.id == id }
            if currentID == id { currentID = nil }
        default: break
        }
    }

    /// Makes the chat of this number the current one, and counts it as read; 0 is none.
    ///
    /// Changes nothing for a number that no chat has.
    mutating func switchTo(_ number: Int) {
        guard let chat = chats.first(where: { $0.number == number }) else {
            if number == 0 { currentID = nil }
            return
        }
        currentID = chat.id
        change(chat.id) { $0.unread = 0 }
    }

    private mutating func change(_ id: ChatID, _ body: (inout Chat) -> Void) {
        guard let index = chats.firstIndex(where: { $0.id == id }) else { return }
        body(&chats[index])
    }
}

/// What was told of a chat while another one was current; the oldest goes when it is too much.
struct UnreadLines {
    /// Nobody reads more of it at once, and the history has the rest.
    private static let atMost = 1000
    private static let bytesAtMost = 1 << 20

    private(set) var lines: [(event: NodeEvent, told: PlainNarrator.Lines)] = []
    private(set) var dropped = 0
    private var bytes = 0

    mutating func add(_ event: NodeEvent, _ told: PlainNarrator.Lines) {
        lines.append((event, told))
        bytes += Self.size(of: told)
        let half = lines.count / 2
        guard lines.count > Self.atMost || bytes > Self.bytesAtMost, half > 0 else { return }
        // Half at a time, so that the rest is not moved for every line.
        bytes -= lines.prefix(half).reduce(0) { $0 + Self.size(of: $1.told) }
        dropped += half
        lines.removeFirst(half)
    }

    private static func size(of told: PlainNarrator.Lines) -> Int {
        (told.results + told.notes).reduce(0) { $0 + $1.utf8.count }
    }
}

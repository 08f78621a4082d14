internal import PeerModel

/// The chats of this run: who is in them, which one is current, and how much is unread in the others; pure.
///
/// What is typed goes to the current chat. A chat that starts becomes it only while there is none, and while another one is
/// waited for only if it is that one: nothing goes to others than those it was typed for.
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
        /// Who has left, to name a chat by that nobody is left in.
        var gone: [Peer] = []

        /// Everyone, the host first.
        var everyone: [Peer] { [host] + members }
    }

    /// By number.
    private(set) var chats: [Chat] = []
    private var currentID: ChatID?
    private var lastNumber = 0
    /// The current chat has ended beside others: what is typed now may be meant for it, so no other takes its place unasked.
    private(set) var isAdrift = false
    /// Those that started unasked while another one was waited for, which they may yet turn out to be.
    private var unasked: Set<ChatID> = []

    /// The chat that what is typed goes to.
    var current: Chat? { chats.first { $0.id == currentID } }

    /// A chat that may start can become the current one.
    var isOpen: Bool { currentID == nil && !isAdrift }

    /// Those beside the current one that have unread lines.
    var unread: [Chat] { chats.filter { $0.unread > 0 } }

    func chat(_ id: ChatID) -> Chat? { chats.first { $0.id == id } }

    /// Whether what is said there waits to be looked at.
    func isElsewhere(_ id: ChatID) -> Bool { id != currentID && chat(id) != nil }

    /// `isAsked` tells of a chat that starts: the user wants it, or waits for no other.
    mutating func note(_ event: NodeEvent, isAsked: Bool = true) {
        switch event {
        case .chatStarted(let id, let role, let host, let members, let purpose) where purpose != .file:
            lastNumber += 1
            chats.append(Chat(number: lastNumber, id: id, role: role, host: host, members: members))
            if !isAsked { unasked.insert(id) }
            if isOpen, isAsked { currentID = id }
        // What was invited to has come about in that chat: the other side's invitation won.
        case .inviteDone(let id?, _, _) where unasked.remove(id) != nil:
            if isOpen { currentID = id }
        case .memberJoined(let id, let member):
            change(id) { chat in
                if !chat.members.contains(where: { $0.id == member.id }) { chat.members.append(member) }
            }
        case .memberLeft(let id, let member, _):
            change(id) { chat in
                chat.members.removeAll { $0.id == member.id }
                chat.gone = [member]
            }
        case .message(let message) where message.ref == nil && isElsewhere(message.chat):
            change(message.chat) { $0.unread += 1 }
        case .chatEnded(let id, _, _):
            chats.removeAll { $0.id == id }
            unasked.remove(id)
            isAdrift = !chats.isEmpty && (isAdrift || currentID == id)
            if currentID == id { currentID = nil }
        default: break
        }
    }

    /// Makes the chat of this number the current one, and counts it as read; 0 is none.
    ///
    /// Changes nothing for a number that no chat has.
    mutating func switchTo(_ number: Int) {
        if number == 0 || chats.contains(where: { $0.number == number }) { isAdrift = false }
        guard let chat = chats.first(where: { $0.number == number }) else {
            if number == 0 { currentID = nil }
            return
        }
        currentID = chat.id
        change(chat.id) { $0.unread = 0 }
    }

    /// There is no current chat until the user goes to one.
    mutating func drift() {
        currentID = nil
        isAdrift = !chats.isEmpty
    }

    /// The user wants a further chat: what is typed is meant for that one, unless another is current.
    mutating func expectOne() { isAdrift = false }

    private mutating func change(_ id: ChatID, _ body: (inout Chat) -> Void) {
        guard let index = chats.firstIndex(where: { $0.id == id }) else { return }
        body(&chats[index])
    }
}

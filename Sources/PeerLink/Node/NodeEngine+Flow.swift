internal import PeerModel
internal import PeerProtocol
internal import PeerSystem

/// Back pressure: nobody may say more than the slowest in the chat can take.
///
/// While too much waits for one member the host reads from none of them, and own lines wait. TCP then makes the others
/// wait in turn. A member goes on reading whatever waits for its host, so two nodes cannot wait for each other; and a
/// member that takes nothing, or too little for too long, is dropped, so the chat cannot wait for ever.
struct Flow {
    /// The connections for which too much waits.
    private(set) var crowded: Set<ConnectionID> = []
    /// The connections that are not read.
    var paused: Set<ConnectionID> = []
    /// Whether the application has not taken what it was told.
    var isBehind = false
    /// Own lines that wait for room in their chats.
    private var waiting: [(chat: ChatID, continuation: CheckedContinuation<Void, Never>)] = []

    var isQuiet: Bool { crowded.isEmpty && paused.isEmpty && !isBehind && waiting.isEmpty }

    mutating func note(_ connection: ControlConnection) {
        if connection.isCrowded { crowded.insert(connection.id) } else { crowded.remove(connection.id) }
    }

    mutating func wait(for chat: ChatID, _ continuation: CheckedContinuation<Void, Never>) {
        waiting.append((chat, continuation))
    }

    /// The chats in which own lines wait.
    var waitingChats: Set<ChatID> { Set(waiting.map(\.chat)) }

    /// The lines of these chats, in the order they came; each looks again whether there is room.
    mutating func resume(_ chats: Set<ChatID>) {
        let ready = waiting.filter { chats.contains($0.chat) }
        waiting.removeAll { chats.contains($0.chat) }
        for waiter in ready { waiter.continuation.resume() }
    }
}

extension NodeEngine {
    /// Says a line once there is room for it, within a minute.
    func say(_ text: String, in named: ChatID?, _ line: Int?) async throws(PeerConnectError) -> Reply {
        let chat = try machine.chat(named).get(), limit = BootClock.now() + Limits.crowded
        while !isStopped, machine.chats.contains(chat), mustWait(in: chat) {
            guard BootClock.now() < limit else { throw Self.isFull }
            let token = loop.schedule(at: limit) { [weak self] in self?.assumeIsolated { $0.flow.resume([chat]) } }
            await withCheckedContinuation { flow.wait(for: chat, $0) }
            loop.cancel(token)
        }
        guard !isStopped else { throw NodeMachine.notInChat }
        // What was meant for one chat is not said in another.
        return machine.say(text, in: chat, line: line, at: moment)
    }

    private static let isFull = PeerConnectError(
        .busy, "The chat has taken no more lines for a minute.", hint: "Leave it, or try again.")

    private func mustWait(in chat: ChatID) -> Bool {
        !machine.hasRoom(in: chat) || machine.connections(of: chat).contains(where: flow.crowded.contains)
    }

    /// The application has caught up with its events.
    func caughtUp() {
        flow.isBehind = false
        carryOutEffects()
    }

    /// Lets connections be read, or not, as there is room now; called after everything that may have changed it.
    func settleFlow() {
        // Nobody in a chat is read while the application does not take its events; what they send stays with them.
        if queue.isCrowded { flow.isBehind = true }
        guard !flow.isQuiet else { return }
        var wanted = Set(flow.isBehind ? machine.chatConnections : [])
        for id in flow.crowded {
            let audience = machine.audience(around: id)
            connections[id]?.isWaitedFor = !audience.isEmpty
            wanted.formUnion(audience)
        }
        let now = BootClock.now()
        for id in flow.paused.symmetricDifference(wanted) {
            guard let connection = connections[id] else { continue }
            connection.setPaused(wanted.contains(id), now: now)
            connection.isWaitedFor = !machine.audience(around: id).isEmpty
            if let token = tokens[id] { loop.update(token, connection.interest) }
        }
        flow.paused = wanted
        flow.resume(flow.waitingChats.filter { !machine.chats.contains($0) || !mustWait(in: $0) })
    }
}

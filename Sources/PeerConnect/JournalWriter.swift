internal import PeerModel
internal import PeerStore
internal import PeerSystem

/// How long the journal waits for what, in seconds, and how much it keeps meanwhile.
package struct JournalPace: Sendable {
    /// How often changes by other processes are looked for.
    package var look = 2.0
    /// How long one attempt waits for a program that writes: ours need milliseconds each.
    package var attempt = 0.3
    /// How long after a failure it is tried again.
    package var retry = 1.0
    /// How long others may be in the way before the user is told.
    package var patience = 5.0
    /// How long it is tried at the end; the whole program has two seconds to leave.
    package var goodbye = 0.8
    /// Bytes of what waits in memory: a thousand of the longest messages, or an evening of short ones.
    package var memory = 16 << 20
    /// Entries after which the limits of the history are looked at again: at most 16 MiB of text.
    package var entriesBetweenPrunes = 1000
    /// And how long after, for the entries that have become too old.
    package var pruneInterval = 3600.0

    package init() {}
}

/// The side of the journal that waits for the disk; lives on its thread.
struct JournalWriter {
    typealias Told = (event: NodeEvent, time: Int64)

    private let records: Records
    private let me: Peer
    private let pace: JournalPace
    private let onChange: @Sendable (Acquaintances) -> Void
    private let onFailure: @Sendable (PeerConnectError) -> Void
    private var known: Acquaintances
    /// What could not be written so far, and how many bytes of memory that is.
    private var pending: [Told] = []
    private var pendingBytes = 0
    /// Whom one was with last, and when; not noted so far.
    private var met: [PeerID: (peer: Peer, time: Int64)] = [:]
    /// Who is in each chat.
    private var present: [ChatID: [PeerID: Peer]] = [:]
    /// Entries that were too many to wait.
    private var lost = 0
    private var failingSince: Instant?
    private var retryAt: Instant?
    private var isToldOf = false
    private var entriesSincePrune = 0
    private var nextPrune: Instant

    init(
        _ records: Records, me: Peer, known: Acquaintances, pace: JournalPace,
        onChange: @escaping @Sendable (Acquaintances) -> Void,
        onFailure: @escaping @Sendable (PeerConnectError) -> Void
    ) {
        self.records = records
        self.me = me
        self.known = known
        self.pace = pace
        self.onChange = onChange
        self.onFailure = onFailure
        nextPrune = BootClock.now() + pace.pruneInterval
    }

    var secondsToNextAttempt: Double { retryAt.map { max(0, $0 - BootClock.now()) } ?? pace.look }

    /// Keeps events until they are written.
    ///
    /// When too many wait, the newest messages are left out before anything else: without its start a chat is not found.
    mutating func take(_ events: [Told]) {
        for (event, time) in events {
            noteMeetings(event, time)
            guard records.history != nil else { continue }
            let size = Self.size(of: event)
            let isMessage = if case .message = event { true } else { false }
            let limit = isMessage ? pace.memory : pace.memory * 2
            // Much at once is no failure: it is written in parts.
            if pendingBytes + size > limit, retryAt == nil { work() }
            guard pendingBytes + size <= limit else {
                lost += 1
                continue
            }
            pendingBytes += size
            pending.append((event, time))
        }
    }

    /// Writes what waits, unless it failed a moment ago, and looks for changes by others.
    mutating func work() {
        if let retryAt, BootClock.now() < retryAt { return }
        do throws(StoreError) {
            try write(patience: pace.attempt)
            try look()
            try pruneNowAndThen()
            recovered()
        } catch {
            failed(error)
        }
    }

    /// Tries for a little longer, and gives what could not be stored.
    mutating func finish() -> PeerConnectError? {
        let limit = BootClock.now() + pace.goodbye
        while true {
            do throws(StoreError) {
                try write(patience: min(pace.attempt, max(0.05, limit - BootClock.now())))
                try look()
                return lost > 0 ? Self.missing(lost) : nil
            } catch {
                if case .busy = error, BootClock.now() < limit { continue }
                let count = pending.count + lost + met.count
                return count > 0 ? Self.missing(count, because: error.publicError) : nil
            }
        }
    }

    // MARK: Writing

    private mutating func write(patience: Double) throws(StoreError) {
        var failure: StoreError?
        // Whom one talks with first: it is what the next invitation is judged by. Neither waits for the other.
        do throws(StoreError) { try meet(patience) } catch { failure = error }
        do throws(StoreError) { try record(patience) } catch { failure = failure ?? error }
        if let failure { throw failure }
    }

    private mutating func meet(_ patience: Double) throws(StoreError) {
        guard let knownPeers = records.knownPeers else { return }
        for (id, meeting) in met {
            try knownPeers.met(meeting.peer, at: meeting.time, patience: patience)
            met[id] = nil
        }
    }

    private mutating func record(_ patience: Double) throws(StoreError) {
        guard let history = records.history, !pending.isEmpty else { return }
        try history.record(pending, by: me, patience: patience)
        entriesSincePrune += pending.count
        (pending, pendingBytes) = ([], 0)
    }

    private mutating func noteMeetings(_ event: NodeEvent, _ time: Int64) {
        guard records.knownPeers != nil else { return }
        switch event {
        case .chatStarted(let chat, _, let host, let members, _):
            present[chat] = [:]
            for peer in [host] + members where peer.id != me.id { come(peer, to: chat, time) }
        case .memberJoined(let chat, let member): if member.id != me.id { come(member, to: chat, time) }
        case .memberLeft(let chat, let member, _):
            if let peer = present[chat]?.removeValue(forKey: member.id) { gone(peer, time) }
        case .chatEnded(let chat, _, _): present.removeValue(forKey: chat)?.values.forEach { gone($0, time) }
        default: break
        }
    }

    private mutating func come(_ peer: Peer, to chat: ChatID, _ time: Int64) {
        met[peer.id] = (peer, time)
        present[chat, default: [:]][peer.id] = peer
    }

    /// Seen until now; one that was forgotten meanwhile stays so.
    private mutating func gone(_ peer: Peer, _ time: Int64) {
        if met[peer.id] != nil || known.peer(peer.id) != nil { met[peer.id] = (peer, time) }
    }

    private mutating func look() throws(StoreError) {
        guard let knownPeers = records.knownPeers else { return }
        let now = Acquaintances(try knownPeers.list(patience: pace.attempt))
        guard now != known else { return }
        known = now
        onChange(now)
    }

    private mutating func pruneNowAndThen() throws(StoreError) {
        guard let history = records.history else { return }
        guard entriesSincePrune >= pace.entriesBetweenPrunes || BootClock.now() >= nextPrune else { return }
        (entriesSincePrune, nextPrune) = (0, BootClock.now() + pace.pruneInterval)
        try history.prune(to: records.limits, now: WallClock.milliseconds(), patience: pace.attempt)
    }

    // MARK: Failing

    private mutating func recovered() {
        if lost > 0 { onFailure(Self.missing(lost)) }
        (failingSince, retryAt, isToldOf, lost) = (nil, nil, false, 0)
    }

    private mutating func failed(_ error: StoreError) {
        let now = BootClock.now(), since = failingSince ?? now
        (failingSince, retryAt) = (since, now + pace.retry)
        if case .busy = error, now - since < pace.patience { return }
        guard !isToldOf else { return }
        isToldOf = true
        let reason = error.publicError
        onFailure(
            PeerConnectError(
                reason.code, reason.message,
                hint: "What happens meanwhile is kept in memory, and stored when it can be.",
                cause: error))
    }

    private static func missing(_ count: Int, because reason: PeerConnectError? = nil) -> PeerConnectError {
        let entries = count == 1 ? "1 entry" : "\(count) entries"
        return PeerConnectError(
            reason?.code ?? .internal, "\(entries) could not be stored\(reason.map { ": \($0.message)" } ?? ".")",
            hint: "The history is as it was before; what was said is in this terminal only.", cause: reason?.cause)
    }

    /// Roughly, with what an event holds besides its texts.
    private static func size(of event: NodeEvent) -> Int {
        switch event {
        case .message(let message): 256 + message.text.utf8.count
        case .fileReceived(let files): 256 + files.paths.reduce(0) { $0 + $1.utf8.count + 16 }
        default: 256
        }
    }
}

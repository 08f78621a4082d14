internal import CAvahi
internal import PeerModel
internal import Synchronization

/// Notes for discovery's thread: the latest of each kind, with a descriptor that wakes it.
final class DiscoveryMail: Sendable {
    struct Notes: Sendable {
        var advert: Advert?
        var interfaces: [LocalInterface]?
        var known: Set<PeerID>?
        var proved: Set<PeerID> = []
        var refreshes: [(PeerID, @Sendable ([[PeerAddress]]) -> Void)] = []
        var counts: [@Sendable (Int?) -> Void] = []
        var isStopping = false

        /// Answers those who ask that there is nobody to look.
        func decline() {
            for (_, done) in refreshes { done([]) }
            for done in counts { done(nil) }
        }
    }

    private struct State: Sendable {
        var notes = Notes()
        /// The first call to the daemon is over.
        var hasBegun = false
        /// As it is before the thread's start too.
        var hasEnded = true
        /// Who waits for the end.
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    let descriptor: CInt
    private let state = Mutex(State())

    init() { descriptor = pc_eventfd() }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// There will be somebody who reads.
    func begin() { state.withLock { $0.hasEnded = false } }

    func began() { state.withLock { $0.hasBegun = true } }

    /// Whether the thread has not come back from its first call.
    var isStuck: Bool { state.withLock { !$0.hasBegun && !$0.hasEnded } }

    /// Leaves a note; whether there is still somebody who will read it.
    @discardableResult
    func post(_ write: (inout Notes) -> Void) -> Bool {
        let isPosted = state.withLock { state in
            guard !state.hasEnded else { return false }
            write(&state.notes)
            return true
        }
        if isPosted { eventfd_write(descriptor, 1) }
        return isPosted
    }

    func take() -> Notes {
        state.withLock { state in
            defer { state.notes = Notes() }
            return state.notes
        }
    }

    /// The thread is over: whoever waits goes on, and notes that nobody has read are answered.
    func ended() {
        let (notes, waiting) = state.withLock { state in
            state.hasEnded = true
            defer { (state.notes, state.waiting) = (Notes(), []) }
            return (state.notes, state.waiting)
        }
        for continuation in waiting { continuation.resume() }
        notes.decline()
    }

    func whenEnded(_ continuation: CheckedContinuation<Void, Never>) {
        let hasEnded = state.withLock { state in
            if !state.hasEnded { state.waiting.append(continuation) }
            return state.hasEnded
        }
        if hasEnded { continuation.resume() }
    }

    /// Lets those go on who wait for the end, though it has not come.
    func giveUp() {
        let waiting = state.withLock { state in
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }
}

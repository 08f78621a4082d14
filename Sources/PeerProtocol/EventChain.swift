package import PeerModel
package import PeerWire

/// The order of a chat: each event's number and the hash over all events up to it (WIRE.md, "Events").
package struct EventChain: Sendable {
    /// How a reference to an earlier event compares with this chain.
    package enum Comparison: Equatable, Sendable {
        case matches
        /// Older than what is remembered, or from before this peer joined.
        case unknown
        /// Another hash, or an event that has not happened: two orders of one chat.
        case differs
    }

    package private(set) var last: EventReference
    /// h(n) of the last events, as a ring: that of event n is at n modulo its size.
    private var ring: [Digest]
    private let first: UInt64
    private let hash: @Sendable ([UInt8]) -> Digest

    /// A chain at its start, or where this peer joined it.
    package init(at reference: EventReference, hash: @escaping @Sendable ([UInt8]) -> Digest) {
        last = reference
        first = reference.n
        ring = [reference.hash]
        self.hash = hash
    }

    /// The chain before its first event.
    package init(chat: ChatID, host: PeerID, hash: @escaping @Sendable ([UInt8]) -> Digest) {
        self.init(at: EventReference(n: 0, hash: hash(ChatEvent.chainStart(chat: chat, host: host))), hash: hash)
    }

    /// Adds the next event and gives its number.
    @discardableResult
    package mutating func append(_ event: [UInt8]) -> UInt64 {
        last = EventReference(n: last.n + 1, hash: hash(ChatEvent.chainLink(previous: last.hash, event: event)))
        if ring.count < Limits.referenceWindow {
            ring.append(last.hash)
        } else {
            ring[slot(of: last.n)] = last.hash
        }
        return last.n
    }

    package func compare(_ reference: EventReference) -> Comparison {
        guard reference.n <= last.n else { return .differs }
        guard reference.n >= first, last.n - reference.n < UInt64(ring.count) else { return .unknown }
        return ring[slot(of: reference.n)] == reference.hash ? .matches : .differs
    }

    private func slot(of n: UInt64) -> Int { Int((n - first) % Limits.referenceWindow) }
}

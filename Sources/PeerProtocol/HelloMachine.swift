internal import PeerModel
package import PeerWire

/// The first frames of a connection: who speaks when, and whether a version is shared (WIRE.md, "Connections").
///
///     listener:  sends hello, waits ──hello──▶ open        dialler:  waits ──hello──▶ sends hello, open
package struct HelloMachine: Sendable {
    package enum Side: Sendable {
        case listener, dialler
    }

    package enum Action: Equatable, Sendable {
        /// Send these, then the connection is open.
        case open(Hello, version: Int, send: [ControlMessage])
        /// Send these and close: the other side speaks other versions.
        case incompatible(min: Int, max: Int, send: [ControlMessage])
        case violation
        case ignore
    }

    private enum State {
        case waiting, done
    }
    private let own: Hello
    private let side: Side
    private var state = State.waiting

    package init(side: Side, own: Hello) {
        self.side = side
        self.own = own
    }

    /// What to send when the handshake is complete.
    package var greeting: [ControlMessage] { side == .listener ? [.hello(own)] : [] }

    /// Takes the next frame until the connection is open.
    package mutating func receive(_ message: ControlMessage) -> Action {
        guard case .waiting = state else { return .violation }
        switch message {
        case .hello(let hello):
            state = .done
            let answer: [ControlMessage] = side == .dialler ? [.hello(own)] : []
            guard let version = ProtocolVersion.common(min: hello.min, max: hello.max) else {
                let refusal = ControlMessage.refuse(min: ProtocolVersion.lowest, max: ProtocolVersion.highest)
                return .incompatible(min: hello.min, max: hello.max, send: [refusal])
            }
            return .open(hello, version: version, send: answer)
        case .refuse(let min, let max):
            state = .done
            return .incompatible(min: min, max: max, send: [])
        case .unknown: return .ignore
        default:
            state = .done
            return .violation
        }
    }
}

internal import PeerModel
internal import PeerProtocol
internal import PeerSystem
internal import PeerWire

/// What a connection tells the engine.
extension ControlConnection {
    enum Event {
        /// Proved and greeted: frames may come.
        case opened(RemotePeer, Hello)
        case message(ControlMessage)
        /// The first frame of a data connection.
        case ticket(Open)
        case closed(Ending)
    }

    /// Why a connection is over.
    enum Ending: Error, Equatable {
        case failed(StreamError)
        case incompatible(min: Int, max: Int)
        case wrongKey(PeerID)
        case silent
        case timedOut
        case closedHere
    }
}

extension ControlConnection.Ending {
    /// The ending for a person, and as the answer to a dial.
    var asFailure: (answer: Answer, reason: String) {
        switch self {
        case .wrongKey(let id): (.wrongKey, "another key is there, of peer \(id.short)")
        case .incompatible(let min, let max): (.incompatible, "it speaks protocol versions \(min) to \(max) only")
        case .silent, .timedOut: (.unreachable, "timed out, perhaps a firewall drops the port")
        case .closedHere: (.unreachable, "given up")
        case .failed(.system(let error)): (.unreachable, error.reason)
        case .failed(.ended): (.unreachable, "it closed the connection")
        case .failed(.tls): (.unreachable, "something else than this program answers there")
        case .failed: (.unreachable, "it does not follow the protocol")
        }
    }
}

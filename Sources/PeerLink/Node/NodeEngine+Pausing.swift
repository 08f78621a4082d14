internal import PeerSystem

/// What happens while the application does not take its events.
extension NodeEngine {
    /// Peers in a chat are not read while nobody takes the events: what they send stays with them, and nothing is lost.
    ///
    /// After 12 s of it they take this one for gone, as they would a machine that has stopped.
    func setReading() {
        let isPaused = queue.isCrowded
        for connection in connections.values where connection.isPaused != isPaused {
            connection.isPaused = isPaused
            if let token = tokens[connection.id] { loop.update(token, connection.interest) }
        }
    }

    /// Whether peers wait for the application.
    var isReadingPaused: Bool { connections.values.contains { $0.isPaused } }
}

package import PeerModel
internal import PeerTLS

/// The words by which two people find out whether they really have each other's keys.
package enum Verification {
    /// 132 bits, out of reach for anyone who looks for keys that give the same words.
    private static let words = 12
    /// Slow, so that looking for keys that give nearly the same words is slow too.
    private static let rounds = 1 << 17
    private static let salt = Array("peerconnect/verify/1".utf8)

    /// The same words on both sides, whichever of the two asks.
    ///
    /// Worked out on a thread of its own: it takes 100 ms and more.
    package static func words(for one: PeerID, and other: PeerID) async throws(PeerConnectError) -> [String] {
        let password = [one, other].sorted().flatMap(\.digest.bytes)
        return try await onThread { () throws(PeerConnectError) in
            let bytes = PBKDF2.derive(
                from: password, salt: salt, rounds: rounds, count: (words * WordList.bits + 7) / 8)
            guard let words = WordList.words(bytes, count: words) else {
                preconditionFailure("there are as many bytes as the words need")
            }
            return words
        }
    }
}

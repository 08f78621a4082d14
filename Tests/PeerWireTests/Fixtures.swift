// swift-format-ignore-file: NeverForceUnwrap, NeverUseForceTry
// Constants of the right size, with the reason on each line.

import PeerModel

@testable import PeerWire

/// Values with bytes that are easy to find again in a dump.
enum Fixture {
    static let digest = Digest([UInt8](repeating: 7, count: 32))!  // 32 bytes
    static let peer = PeerID(Digest([UInt8](repeating: 1, count: 32))!)  // 32 bytes
    static let other = PeerID(Digest([UInt8](repeating: 2, count: 32))!)  // 32 bytes
    static let chat = ChatID(bytes: [UInt8](repeating: 1, count: 16))!  // 16 bytes
    static let transfer = TransferID(Digest([UInt8](repeating: 5, count: 32))!)  // 32 bytes
    static let nonce = [UInt8](repeating: 3, count: 16)
    static let memberNonce = [UInt8](repeating: 9, count: 16)
    static let signature = [UInt8](repeating: 6, count: 64)
    static let name = try! DisplayName("Ada")  // a plain name
    static let run = RunID("abcd2345")!  // 8 characters of base32

    static let join = Join(
        chat: chat, host: other, nonce: nonce, memberNonce: memberNonce, key: [4, 5], name: name)
    static let say = statement(.say(text: "hi"))
    static let offer = statement(
        .offer(
            OfferBody(
                transfer: transfer, nonce: nonce, size: 0x0102, entries: 3, files: 2, manifestLength: 0x0405,
                manifestHash: digest, recipients: [other, peer], names: ["a", "é"])))

    static func statement(_ body: Statement.Body) -> Statement {
        Statement(
            chat: chat, host: other, author: peer, counter: 8, seen: EventReference(n: 9, hash: digest),
            sent: 1_700_000_000_000, body: body)
    }

    static func signed(_ bytes: [UInt8]) -> SignedBytes { SignedBytes(bytes: bytes, signature: signature) }

    /// Ascending with the number, up to 255.
    static func peer(_ number: Int) -> PeerID { PeerID(Digest([UInt8(number)] + bytes(0, 31))!) }  // 32 bytes

    static let events: [ChatEvent.Body] = [
        .joined(signed(join.bytes())), .left(peer, .timedOut), .said(signed(say.bytes())),
        .offered(signed(offer.bytes())), .answered(transfer, by: peer, accepted: false, automatic: true),
        .result(transfer, of: peer, .failed, .lost),
    ]
}

/// The bytes of a hex dump; spaces and line ends do not count.
func hex(_ text: String) -> [UInt8] {
    let digits = text.compactMap(\.hexDigitValue)
    return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
}

func bytes(_ value: UInt8, _ count: Int) -> [UInt8] { [UInt8](repeating: value, count: count) }

/// All parts in a row; a chain of `+` takes the compiler too long.
func join(_ parts: [UInt8]...) -> [UInt8] { Array(parts.joined()) }

/// Every size, count and time limit, each with its reason.
///
/// Times are seconds.
package enum Limits {
    // Frames.
    /// A control frame's payload: a 16 KiB text in base64 and a full roster of 64 both fit.
    package static let controlPayload = 64 << 10
    /// Until a key is proved and the first frame has come, so that strangers cost little.
    package static let firstPayload = 4 << 10
    /// The unit of a transfer: hashed, checked and resumed.
    package static let pieceSize = 1 << 20
    /// A data frame's payload: a piece with its number and hash (4 + 32 bytes).
    package static let dataPayload = pieceSize + 36
    /// What may wait for a member's socket before it counts as stalled and is dropped.
    package static let controlBacklog = 4 << 20
    /// What may wait for it before nobody's lines are taken any more, and what must be left before they are again.
    package static let crowdedAbove = 1 << 20
    package static let crowdedBelow = 256 << 10

    // Connections.
    package static let unprovedConnections = 64
    package static let unprovedPerSource = 8
    package static let handshake = 5.0
    /// How long nothing of a goodbye may move, and then the other side may take to close.
    package static let closing = 1.0
    /// How long the others wait for one that reads too slowly, and a goodbye may take in all: 1 MiB at some 140 kbit/s.
    package static let crowded = 60.0
    /// RFC 8305, section 5: the delay between attempts to several addresses.
    package static let dialStagger = 0.25
    package static let dialsInFlight = 8
    package static let dialAddresses = 16
    /// A quarter of a second below the 5 s within which a person hears that nobody answers: the rest is for telling.
    package static let dial = 4.75
    package static let pingAfter = 4.0
    /// While nothing is read, and so no ping answered: often enough that the other side need not ask.
    package static let pongEvery = 2.0
    package static let deadAfter = 12.0
    package static let ticketLifetime = 30.0
    package static let dataKeepalive = 10.0
    package static let dataSilence = 30.0
    /// Then a data connection takes a new key: AES-GCM's bound for one, 2^24.5 full records (RFC 8446, section 5.5), lies above.
    package static let dataPerKey: UInt64 = 256 << 30

    // Chat.
    package static let peersByDefault = 7
    package static let peersAtMost = 64
    /// At once: with 64 members in each that is half of the descriptors that a process has by default (1,024).
    package static let chatsAtMost = 8
    package static let answer = 30.0
    /// For an invitation that brings a file: its sender may wait in a script.
    package static let fileAnswer = 300.0
    /// How soon after an inviter gave way the invitation it gave way to is here, too.
    package static let settling = 2.0
    package static let pendingInvitations = 8
    /// Of those, from strangers at one address: one machine with many keys does not keep everybody else out.
    package static let questionsPerSource = 2
    /// Of those, from all strangers: there is always room for someone who is known.
    package static let strangersQuestions = 6
    /// How long the same peer's refusal is not told again.
    package static let refusalPause = 60.0
    /// Who may ever have spoken in one chat: their counters are in the welcome, which must fit in a frame.
    package static let authors = 192
    package static let text = 16 << 10
    package static let undeliveredAfter = 15.0
    package static let acknowledgeWithin = 0.1
    /// Lines of all authors in a chat whose arrival nobody has told of yet; who says more waits.
    package static let linesOnTheirWay = 2048
    /// How far back a line may refer to the event its author saw last, so that hashes need bounded memory.
    package static let referenceWindow: UInt64 = 4096

    /// Events that may wait for the application before peers are not read any more: minutes of a lively chat, 160 MB at worst.
    package static let eventsWaiting = 10_000

    // Transfers.
    package static let entries = 1_000_000
    package static let manifest = 128 << 20
    package static let topNames = 20
    package static let checkpointEvery: UInt64 = 16
    /// So many pieces may be lost with the power, and are looked at again before a transfer continues: 64 MiB take far below a
    /// second, and to wait for the disk more often would cost speed.
    package static let piecesUnsynced: UInt64 = 64
    /// How long, in seconds, what was interrupted is kept for its sender to come back: a month of holidays, and no longer,
    /// since nobody looks into a hidden folder.
    package static let partialsKept: Int64 = 30 * 86_400
    /// How many interrupted transfers are kept in a folder: more than anyone has, and no more than somebody can make.
    package static let partials = 64
    /// How long a recipient of `send` may do nothing, unless said otherwise.
    package static let stall = 60.0
    /// How long the thread of an interrupted attempt may take to end: a write or two.
    package static let formerAttempt = 5.0
    /// How long all bytes may take from the last one's arrival to their place on a slow disk.
    package static let landing = 600.0
    /// Entries that are named when many are left out or renamed.
    package static let toldEntries = 100
    /// Ended transfers of a chat that are remembered, for lists and late acceptances.
    package static let endedTransfers = 64
    package static let reservedSpace: UInt64 = 64 << 20
    /// Unfinished offers of one author, so that nobody fills the others' memory.
    package static let openOffers = 64

    // Discovery.
    package static let listedPeers = 2000
    package static let defaultPort: UInt16 = 27182
    package static let ports: ClosedRange<UInt16> = 27182...27199
}

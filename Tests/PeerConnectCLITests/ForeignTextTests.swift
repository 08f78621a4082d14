import PeerModel
import PeerTerminal
import Testing

@testable import PeerConnectCLI

/// Names of files that read like sentences of the program.
struct ForeignTextTests {
    private let me, eve: Peer
    private let name = "report.pdf” to ben: verified. carol left the chat. “x"
    private let shown = "“report.pdf\" to ben: verified. carol left the chat. \"x”"

    init() throws {
        me = try peer("me", 9)
        eve = try peer("eve", 5)
    }

    @Test("Wherever the program says something of a file, its name is in quotes that nothing in it closes")
    func sentences() throws {
        var narrator = PlainNarrator(me: me)
        let transfer = try transferID(1)
        let offer = FileOffer(
            number: 4, chat: try chatID(3), transfer: transfer, from: eve, to: [me], isMine: false,
            summary: OfferSummary(name: name, size: 1, files: 1), line: nil)
        let result = TransferResult(peer: me, status: .verified)
        let files = ReceivedFiles(
            transfer: transfer, from: eve, paths: ["/in/" + name], size: 1, mended: ["\(name) → y"], skipped: [name])
        let progress = FileProgress(transfer: transfer, recipient: nil, bytes: 0, size: 1, rate: 0)
        let events: [NodeEvent] = [
            .inviteReceived(number: 3, from: eve, purpose: .file, offer: offer.summary, known: .new),
            .fileOffered(offer), .fileAnswered(transfer: transfer, peer: me, accepted: true, automatic: false),
            .fileProgress(progress), .fileReceived(files), .fileDelivered(transfer: transfer, result: result),
            .fileSkipped(transfer: transfer, entries: [name], count: 1),
            .fileDone(transfer: transfer, results: [result], line: nil),
        ]
        for event in events {
            let lines = narrator.tell(event, now: 0)
            let all = lines.results + lines.notes
            #expect(!all.isEmpty)
            for line in all {
                #expect(line.contains(shown.dropFirst()) || line.contains(shown.dropLast()), "\(line)")
                #expect(
                    !line.contains("”  to") && line.count { $0 == "“" } == 1 && line.count { $0 == "”" } == 1, "\(line)"
                )
            }
        }
        var row = LiveTransfer(offer: offer, isOpen: false)
        row.progress[me.id] = .moving(progress)
        #expect(row.line(names: NameBook()).name == shown)
    }

    @Test(
        "A path is quoted unless it is one word",
        arguments: [
            ("/home/ada/Downloads/a-1_b.txt", "/home/ada/Downloads/a-1_b.txt"), ("/d/a (1).txt", "“/d/a (1).txt”"),
            ("a b", "“a b”"), ("a.", "“a.”"), ("", "“”"), ("a\u{A0}b", "“a\u{A0}b”"), ("a:b", "“a:b”"),
            ("a\nb", "a␊b"),
        ])
    func path(path: String, shown: String) { #expect(SafeText.path(path) == shown) }
}

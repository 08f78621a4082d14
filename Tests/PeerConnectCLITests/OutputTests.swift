import PeerModel
import Testing

@testable import PeerConnectCLI

struct JSONTests {
    @Test(
        "Strings are escaped as RFC 8259 asks, and nothing else is",
        arguments: [
            ("plain ü 😀", #""plain ü 😀""#), (#"a"b\c"#, #""a\"b\\c""#), ("\n\r\t", #""\n\r\t""#),
            ("\u{0}\u{1B}\u{1F}\u{7F}", #""\u0000\u001b\u001f\u007f""#),
            ("/\u{2028}\u{9B}\u{202E}", #""/\u2028\u009b\u202e""#), ("", #""""#),
        ])
    func escaping(text: String, json: String) {
        #expect(JSONValue.string(text).text == json)
    }

    @Test("Keys keep their order, absent values are null")
    func order() {
        let value: JSONValue = ["b": .int(-1), "a": .array([.bool(true), .null, .uint(.max)]), "c": [:]]
        #expect(value.text == #"{"b":-1,"a":[true,null,18446744073709551615],"c":{}}"#)
    }

    @Test(
        "Times are RFC 3339 in UTC with milliseconds, whatever number comes",
        arguments: [
            (0, "1970-01-01T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"), (1_709_251_199_999, "2024-02-29T23:59:59.999Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"), (1_796_000_000_123, "2026-11-30T00:53:20.123Z"),
            (.max, "9999-12-31T23:59:59.999Z"), (.min, "0000-01-01T00:00:00.000Z"),
        ] as [(Int64, String)])
    func times(milliseconds: Int64, text: String) {
        #expect(Timestamp.rfc3339(milliseconds) == text)
    }

    @Test(
        "People read local time, to the minute",
        arguments: [
            (1_796_000_000_123, 0, "2026-11-30 00:53"), (1_796_000_000_123, 19_800_000, "2026-11-30 06:23"),
            (1_796_000_000_123, -3_600_000, "2026-11-29 23:53"), (.max, 3_600_000, "9999-12-31 23:59"),
        ] as [(Int64, Int64, String)])
    func localTimes(milliseconds: Int64, offset: Int64, text: String) {
        #expect(Timestamp.local(milliseconds) { _ in offset } == text)
    }

    @Test("Every event has its name first, then the time, then its fields")
    func events() throws {
        let ada = try peer("ada", 1), bob = try peer("b\"ob", 2)
        let chat = try chatID(3), transfer = TransferID(try digest(4))
        let a = #"{"id":"\#(ada.id)","name":"ada"}"#, b = #"{"id":"\#(bob.id)","name":"b\"ob"}"#
        let address = PeerAddress(.v4([10, 0, 0, 7]), port: 27182)
        let listed = ListedPeer(peer: ada, number: 1, isBusy: true, kind: "chat", addresses: [address])
        let offer = OfferSummary(name: "x", size: nil, files: 2)
        let target = InviteTarget(peer: nil, label: "10.0.0.7")
        let cases: [(NodeEvent, String)] = [
            (
                .discovery(backend: "daemon", state: .down, reason: "gone"),
                #"discovery","backend":"daemon","state":"down","reason":"gone""#
            ),
            (
                .peerLost(listed, reason: "goodbye"),
                #"peer.lost","peer":\#(a),"number":1,"state":"busy","kind":"chat","known":"new","addresses":["10.0.0.7:27182"],"reason":"goodbye""#
            ),
            (
                .inviteReceived(number: 4, from: ada, purpose: .file, offer: offer, known: .known),
                #"invite.received","number":4,"from":\#(a),"known":"known","purpose":"file","offer":{"name":"x","size":null,"files":2}"#
            ),
            (.inviteWithdrawn(number: 4, reason: "crossed"), #"invite.withdrawn","number":4,"reason":"crossed""#),
            (.inviteRefused(from: bob, answer: .busy), #"invite.refused","from":\#(b),"answer":"busy""#),
            (
                .inviteAnswered(target, answer: .wrongKey, reason: nil, line: 3),
                #"invite.answered","peer":{"id":null,"name":"10.0.0.7"},"answer":"wrong-key","reason":null,"line":3"#
            ),
            (
                .inviteDone(chat: nil, answers: [(target, .timeout)], line: nil),
                #"invite.done","chat":null,"answers":[{"peer":{"id":null,"name":"10.0.0.7"},"answer":"timeout"}]"#
            ),
            (
                .chatStarted(chat: chat, role: .host, host: ada, members: [bob]),
                #"chat.started","chat":"\#(chat)","role":"host","host":\#(a),"members":[\#(b)],"purpose":"chat""#
            ),
            (.memberJoined(chat: chat, member: bob), #"member.joined","chat":"\#(chat)","member":\#(b)"#),
            (
                .memberLeft(chat: chat, member: bob, reason: .timedOut),
                #"member.left","chat":"\#(chat)","member":\#(b),"reason":"timed-out""#
            ),
            (
                .chatEnded(chat: chat, reason: .hostLost, cause: .crashed),
                #"chat.ended","chat":"\#(chat)","reason":"host-lost","cause":"crashed""#
            ),
            (
                .message(ChatMessage(chat: chat, seq: 7, from: ada, text: "hi\n", sent: 0, ref: 2, line: 5)),
                #"message","chat":"\#(chat)","seq":7,"from":\#(a),"text":"hi\n","sent":"1970-01-01T00:00:00.000Z","mine":true,"earlier":false,"ref":2,"line":5"#
            ),
            (
                .messageDelivered(chat: chat, seq: 7, ref: 2, missing: [bob], line: nil),
                #"message.delivered","chat":"\#(chat)","seq":7,"ref":2,"missing":[\#(b)]"#
            ),
            (
                .fileAnswered(transfer: transfer, peer: bob, accepted: false, automatic: true),
                #"file.answered","transfer":"\#(transfer)","peer":\#(b),"answer":"declined","auto":true"#
            ),
            (
                .fileProgress(FileProgress(transfer: transfer, recipient: nil, bytes: 1, size: 2, rate: 3)),
                #"file.progress","transfer":"\#(transfer)","direction":"in","bytes":1,"size":2,"rate":3"#
            ),
            (
                .fileProgress(FileProgress(transfer: transfer, recipient: nil, bytes: 1, size: 2, rate: 0, from: 1)),
                #"file.progress","transfer":"\#(transfer)","direction":"in","bytes":1,"size":2,"rate":0,"from":1"#
            ),
            (
                .fileDone(
                    transfer: transfer, results: [TransferResult(peer: bob, status: .failed, reason: .diskFull)],
                    line: 9),
                #"file.done","transfer":"\#(transfer)","results":[{"to":\#(b),"status":"failed","reason":"disk-full"}],"line":9"#
            ),
            (
                .warning(code: .sameID, peer: ada, message: "m"),
                #"warning","code":"same-id","peer":\#(a),"message":"m""#
            ),
            (.failure(PeerConnectError(.internal, "m")), #"error","code":"internal","message":"m","hint":null"#),
            (.reply(line: 1, .done), #"reply","line":1,"ok":true"#),
            (.reply(line: 1, .message(ref: 8)), #"reply","line":1,"ok":true,"ref":8"#),
            (
                .reply(line: 1, .failed(PeerConnectError(.ambiguous, "m", hint: "h", candidates: [ada]))),
                #"reply","line":1,"ok":false,"code":"ambiguous","message":"m","hint":"h","candidates":[\#(a)]"#
            ),
        ]
        for (event, rest) in cases {
            let parts = rest.split(separator: "\"", maxSplits: 1)
            let line = #"{"event":"\#(parts[0])","time":"2026-11-30T00:53:20.123Z"\#(parts[1])}"#
            #expect(JSONEvent(event).line(now: 1_796_000_000_123) == line)
        }
    }

    @Test("Long lists of mended and skipped entries are cut, and counted")
    func longLists() throws {
        let names = (0..<150).map { "e\($0)" }
        let files = ReceivedFiles(
            transfer: TransferID(try digest(1)), from: try peer("ada", 1), paths: ["/d/x"], size: 1, mended: [],
            skipped: names)
        let line = JSONEvent(.fileReceived(files)).line(now: 0)
        #expect(line.contains(#""e99"],"skippedCount":150}"#))
        #expect(line.contains(#""mended":[],"mendedCount":0"#))
    }
}

struct NarratorTests {
    private let now: Int64 = 0

    @Test("A message is a name and a text, and more lines of it cannot pass for another message")
    func messages() throws {
        var narrator = PlainNarrator(me: try peer("me", 9))
        func said(_ text: String, by author: Peer) throws -> [String] {
            let message = ChatMessage(
                chat: try chatID(1), seq: 1, from: author, text: text, sent: 0, ref: nil, line: nil)
            return narrator.tell(.message(message), now: now).results
        }
        #expect(try said("hello", by: peer("ada", 1)) == ["ada: hello"])
        #expect(try said("hi\nbob: yes\r\n\u{1B}[A", by: peer("ada", 1)) == ["ada: hi\n  | bob: yes\n  | ␛[A"])
        #expect(try said("x", by: peer("bob: hi", 2)) == ["“bob: hi”: x"])
    }

    @Test("Two peers of one name are told apart by their short IDs")
    func namesakes() throws {
        let one = try peer("Ada", 1), other = try peer("ada", 2)
        var narrator = PlainNarrator(me: try peer("me", 9))
        let chat = try chatID(1)
        #expect(narrator.tell(.memberJoined(chat: chat, member: one), now: now).notes == ["Ada joined the chat."])
        #expect(
            narrator.tell(.memberJoined(chat: chat, member: other), now: now).notes
                == ["ada (\(other.id.short)) joined the chat."])
        #expect(
            narrator.tell(.memberLeft(chat: chat, member: one, reason: .left), now: now).notes
                == ["Ada (\(one.id.short)) left the chat."])
    }

    @Test("An invitation says who, what for, and what to type")
    func invitations() throws {
        var narrator = PlainNarrator(me: try peer("me", 9))
        let ada = try peer("ada\u{7}", 1)
        let offer = OfferSummary(name: "photos", size: 34_000_000, files: 12)
        #expect(
            narrator.tell(.inviteReceived(number: 4, from: ada, purpose: .chat, offer: nil, known: .new), now: now)
                .notes
                == ["ada␇ (\(ada.id.short), new) invites you to chat, #4. Type /accept 4 or /decline 4."])
        #expect(
            narrator.tell(.inviteReceived(number: 5, from: ada, purpose: .file, offer: offer, known: .known), now: now)
                .notes
                == [
                    "ada␇ (\(ada.id.short), known) offers you “photos” with 12 files, 34 MB, #5. Type /accept 5 or /decline 5."
                ])
    }

    @Test("Where an interrupted transfer continues is told, in whatever direction")
    func continues() throws {
        var narrator = PlainNarrator(me: try peer("me", 9))
        let transfer = TransferID(try digest(1)), bob = try peer("bob", 2)
        func told(_ recipient: Peer?) -> [String] {
            let progress = FileProgress(
                transfer: transfer, recipient: recipient, bytes: 45, size: 100, rate: 0, from: 45)
            return narrator.tell(.fileProgress(progress), now: 0).notes
        }
        #expect(told(nil) == ["Receiving a transfer continues at 45 % of 100 bytes."])
        #expect(told(bob) == ["Sending a transfer to bob continues at 45 % of 100 bytes."])
        // A later attempt in the same run.
        #expect(told(nil) == ["Receiving a transfer continues at 45 % of 100 bytes."])
    }

    @Test("Progress is told at the start and at quarters, at most every 30 s")
    func progress() throws {
        var pace = ProgressPace()
        let transfer = TransferID(try digest(1))
        func due(_ bytes: UInt64, at seconds: Int64) -> UInt64? {
            pace.due(
                FileProgress(transfer: transfer, recipient: nil, bytes: bytes, size: 100, rate: 1), now: seconds * 1000)
        }
        #expect(due(1, at: 0) == 1)
        #expect(due(30, at: 10) == nil)
        #expect(due(31, at: 30) == 31)
        #expect(due(49, at: 90) == nil)
        #expect(due(80, at: 91) == 80)
        #expect(due(100, at: 200) == nil)
        #expect(
            pace.due(FileProgress(transfer: transfer, recipient: nil, bytes: .max, size: 0, rate: 0), now: 0) == nil)
    }

    @Test(
        "Sizes are readable",
        arguments: [
            (nil, "size unknown"), (0, "0 bytes"), (1, "1 byte"), (999, "999 bytes"), (1000, "1 kB"),
            (4_250_000, "4.2 MB"),
            (34_000_000, "34 MB"), (150_900, "150 kB"), (.max, "18.4 EB"),
        ] as [(UInt64?, String)])
    func amounts(bytes: UInt64?, text: String) {
        #expect(Amount.bytes(bytes) == text)
    }

    @Test("An error is its sentence, its hint, and whom it could mean")
    func errors() throws {
        let ada = try peer("ada", 1)
        let error = PeerConnectError(.ambiguous, "Two are called ada.", hint: "Type an ID.", candidates: [ada])
        #expect(PlainNarrator.sentences(error) == ["Two are called ada. Type an ID.", "  ada has the ID \(ada.id)."])
    }
}

@Suite("Names in sentences")
struct NameTests {
    @Test(
        "A name is quoted when it could pass for a sentence of ours",
        arguments: [
            ("Ada", "Ada"), ("ada@host.example", "ada@host.example"), ("Ada Lovelace", "Ada Lovelace"),
            ("bob joined the chat. carol", "“bob joined the chat. carol”"), ("You: hi", "“You: hi”"),
            ("Chat ended by the host", "“Chat ended by the host”"), ("Anna.", "“Anna.”"), ("a “b”", "“a \"b\"”"),
            ("a  b", "“a  b”"),
        ])
    func quoting(name: String, shown: String) throws {
        #expect(NameBook.clean(name) == shown)
    }

    @Test("Who ends a chat is not told that the host did it")
    func ownEnd() throws {
        let me = try peer("me", 9), ada = try peer("ada", 1), chat = try chatID(3)
        for (host, sentence) in [(me, "You ended the chat."), (ada, "Chat ended by the host.")] {
            var narrator = PlainNarrator(me: me)
            let role: ChatRole = host.id == me.id ? .host : .member
            _ = narrator.tell(.chatStarted(chat: chat, role: role, host: host, members: [me]), now: 0)
            #expect(
                narrator.tell(.chatEnded(chat: chat, reason: .ended, cause: nil), now: 0).notes == [sentence])
        }
    }

    @Test("Nobody else is called you")
    func you() throws {
        let other = try peer("You", 3)
        #expect(NameBook().shown(other) == "You (\(other.id.short))")
    }

    @Test("Who was refused during a chat is told after it, once for each")
    func refusals() throws {
        let me = try peer("me", 9), ada = try peer("ada", 1), bob = try peer("bob", 2), chat = try chatID(3)
        var narrator = PlainNarrator(me: me)
        let refused = NodeEvent.inviteRefused(from: bob, answer: .busy)
        #expect(narrator.tell(refused, now: 0).notes == ["bob (\(bob.id.short)) invited you and was answered busy."])
        _ = narrator.tell(.chatStarted(chat: chat, role: .host, host: me, members: [ada]), now: 0)
        #expect(narrator.tell(refused, now: 1000).notes.isEmpty)
        let end = narrator.tell(.chatEnded(chat: chat, reason: .ended, cause: nil), now: 181_000).notes
        #expect(end.last == "bob (\(bob.id.short)) invited you 3 minutes ago and was answered busy.")
    }
}

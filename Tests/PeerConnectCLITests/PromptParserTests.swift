import PeerModel
import Testing

@testable import PeerConnectCLI

struct PromptParserTests {
    /// A file system of three files; the pattern arrives as glob(3) would get it.
    private let parser = PromptParser(
        paths: PathExpander(home: "/home/ada") { pattern in
            switch pattern {
            case "*.txt": ["a.txt", "b.txt"]
            case "/home/ada/*": ["/home/ada/c"]
            case "\\[x\\]*": ["[x]1"]
            default: []
            }
        })

    private func text(_ line: String) -> String { describe(parser.parse(line)) }

    @Test(
        "Lines mean what they say",
        arguments: [
            ("", "nothing"),
            ("hello", "message hello"),
            ("  hello ", "message   hello "),
            ("//x y", "message /x y"),
            ("/peers", "peers"), ("/peers ada l", "peers ada l"),
            ("/invite ada", "invite [ada]"), ("/invite ada \"bob b\" @3", "invite [ada, bob b, 3]"),
            ("/start", "start"), ("/who", "who"), ("/transfers", "transfers"), ("/quit", "quit"),
            ("/leave", "leave"), ("/end", "end"), ("/chats", "chats"), ("/switch 2", "switch 2"),
            ("/switch 0", "switch 0"), ("/switch #2", "switch 2"),
            ("/accept", "unnamed accept"), ("/accept 4", "accept #4"), ("/accept #4", "accept #4"),
            ("/accept ada", "accept ada"), ("/decline 4", "decline #4"), ("/cancel", "unnamed cancel"),
            ("/cancel 99999999999999999999", "cancel 99999999999999999999"), ("/accept 0", "accept 0"),
            ("/history", "history "), ("/history two words", "history two words"), ("/files x", "files x"),
            ("/trust ada", "trust ada"), ("/untrust @ada", "untrust ada"), ("/block 'bob b'", "block bob b"),
            ("/unblock 3", "unblock 3"), ("/verify @ada", "verify ada"), ("/name Ada Lovelace", "rename Ada Lovelace"),
            ("/dnd", "dnd true"), ("/dnd on", "dnd true"), ("/dnd off", "dnd false"),
            ("/send a", "send [a] to []"), ("/send @ada @\"bob b\" a b", "send [a, b] to [ada, bob b]"),
            ("/send a @b", "send [a, @b] to []"), ("/send '@b'", "send [@b] to []"),
            ("/send \"a b\" c\\ d 'e\"f'", "send [a b, c d, e\"f] to []"),
            ("/send *.txt", "send [a.txt, b.txt] to []"), ("/send '*.txt' \\*.txt", "send [*.txt, *.txt] to []"),
            ("/send *.none", "send [*.none] to []"), ("/send '[x]'*", "send [[x]1] to []"),
            ("/send ~ ~/x ~/* ~bob '~'", "send [/home/ada, /home/ada/x, /home/ada/c, ~bob, ~] to []"),
            ("/send $HOME", "send [$HOME] to []"), ("/send ''", "send [] to []"),
            ("/send dir/", "send [dir/] to []"),
            ("/help", "help 24"), ("/help send", "help 1"), ("/help /send", "help 1"),
        ])
    func lines(line: String, meaning: String) {
        #expect(text(line) == meaning)
    }

    @Test(
        "Wrong lines are refused with a code and a hint",
        arguments: [
            ("/frobnicate", "unknown-command: /help lists the commands; //frobnicate sends the text."),
            ("/qiut", "unknown-command: Did you mean /quit?"),
            ("/", "unknown-command: /help lists the commands; // sends the text."),
            ("/help frobnicate", "unknown-command: /help lists the commands; //frobnicate sends the text."),
            ("/invite", "usage: /help invite"), ("/send", "usage: /help send"), ("/send @ada", "usage: /help send"),
            ("/send @ a", "usage: /help send"), ("/start now", "usage: /help start"),
            ("/accept 1 2", "usage: /help accept"), ("/switch", "usage: /help switch"),
            ("/switch ada", "usage: /help switch"), ("/switch -1", "usage: /help switch"),
            ("/switch +2", "usage: /help switch"),
            ("/switch 99999999999999999999", "usage: /help switch"), ("/switch 1 2", "usage: /help switch"),
            ("/chats 1", "usage: /help chats"), ("/dnd maybe", "usage: /help dnd"),
            ("/name", "usage: /help name"), ("/name \u{7}", "usage: Usage is /name NEW."),
            ("/verify", "usage: /help verify"),
            ("/block", "usage: /help block"), ("/trust a b", "usage: /help trust"),
            ("/send 'a", "usage: Usage is /send [@PEER]… PATH…."),
            ("/send a\\", "usage: Usage is /send [@PEER]… PATH…."),
        ])
    func refusals(line: String, problem: String) {
        guard case .problem(let error) = parser.parse(line) else {
            Issue.record("\(line) is not refused")
            return
        }
        #expect("\(error.code.rawValue): \(error.hint ?? "")" == problem)
    }

    @Test(
        "The list of all commands names each once, under what one wants to do, and fits a window of 80 by 24"
    )
    func overview() {
        let rows = PromptCommand.overview
        let words = rows.flatMap { $0.0.split { $0 == " " || $0 == "," } }.filter { $0.hasPrefix("/") }
        #expect(words.map(String.init) == PromptCommand.all.map { "/" + $0.name })
        // Below it stand people, a status line and the input.
        #expect(rows.count <= 24 - 3 && rows.filter { $0.1.isEmpty }.count == 4)
        let left = (rows.map(\.0.count).max() ?? 0) + 2
        #expect(rows.allSatisfy { left + $0.1.count <= 80 })
    }

    @Test("A message of 16 KiB passes, one byte more is refused")
    func limit() {
        #expect(text(String(repeating: "x", count: 16384)).hasPrefix("message"))
        #expect(text(String(repeating: "x", count: 16385)) == "too-long")
    }

    @Test(
        "With JSON a line may be an object",
        arguments: [
            (#"{"line":"/who"}"#, "who"), (#"{"line":"hi"}"#, "message hi"),
            (#"{"text":"/who\nx"}"#, "message /who\nx"),
            (#"{"text":""}"#, "nothing"), ("/who", "who"), ("{", "usage"), (#"{"text":1}"#, "usage"), ("{}", "usage"),
            (#"{"line":"a","text":"b"}"#, "usage"), (#"{"text":"a","more":1}"#, "message a"),
        ])
    func objects(line: String, meaning: String) {
        #expect(describe(JSONLine.parse(line, with: parser)) == meaning)
    }

    private func describe(_ line: PromptLine) -> String {
        switch line {
        case .nothing: "nothing"
        case .message(let text): "message \(text)"
        case .command(let command): describe(command)
        case .unnamed(let command): "unnamed \(describe(command))"
        case .peers(let text): "peers" + (text.map { " " + $0 } ?? "")
        case .who: "who"
        case .chats: "chats"
        case .switchTo(let number): "switch \(number)"
        case .transfers: "transfers"
        case .record(.history(let text)): "history \(text)"
        case .record(.files(let text)): "files \(text)"
        case .record(.change(let change, let peer)): "\(change.rawValue) \(peer.text)"
        case .work(.verify(let peer)): "verify \(peer.text)"
        case .work(.rename(let name)): "rename \(name)"
        case .help(let commands): "help \(commands.count)"
        case .quit: "quit"
        case .problem(let error): error.code.rawValue
        }
    }

    private func describe(_ command: NodeCommand) -> String {
        func item(_ item: ItemReference?) -> String {
            switch item {
            case nil: ""
            case .number(let number)?: " #\(number)"
            case .peer(let peer)?: " \(peer.text)"
            }
        }
        func list(_ items: [String]) -> String { "[" + items.joined(separator: ", ") + "]" }
        return switch command {
        case .invite(let peers): "invite \(list(peers.map(\.text)))"
        case .start: "start"
        case .accept(let reference): "accept" + item(reference)
        case .decline(let reference): "decline" + item(reference)
        case .cancel(let reference): "cancel" + item(reference)
        case .say(let text): "say \(text)"
        case .send(let paths, let peers): "send \(list(paths)) to \(list(peers.map(\.text)))"
        case .leave: "leave"
        case .end: "end"
        case .giveUp: "give up"
        case .doNotDisturb(let isOn): "dnd \(isOn)"
        }
    }
}

struct LineSplitterTests {
    @Test("Lines do not depend on how the bytes are cut", arguments: 1...12)
    func chunks(size: Int) {
        var splitter = LineSplitter()
        let bytes = Array("one\n\ntwo\r\nthree".utf8)
        var lines: [InputLine] = []
        for start in stride(from: 0, to: bytes.count, by: size) {
            lines += splitter.append(bytes[start..<min(start + size, bytes.count)])
        }
        if let last = splitter.finish() { lines.append(last) }
        #expect(lines == [.text("one"), .text(""), .text("two"), .text("three")])
    }

    @Test("A line as long as a terminal can hold is taken for cut, whatever is left of its last character")
    func terminal() {
        let most = [UInt8](repeating: 0x78, count: 4095), end = [UInt8(ascii: "\n")]
        for cut in [most, most.dropLast() + [0xC3], most + [0x78]] {
            var splitter = LineSplitter(isFromTerminal: true)
            #expect(splitter.append(cut + end + Array("ok\n".utf8)) == [.cut, .text("ok")])
        }
        var splitter = LineSplitter(isFromTerminal: true)
        #expect(splitter.append(most.dropLast() + end) == [.text(String(repeating: "x", count: 4094))])
        var pipe = LineSplitter()
        #expect(pipe.append(most + most + end) == [.text(String(repeating: "x", count: 8190))])
    }

    @Test("A line over 1 MiB and one that is not UTF-8 are named, and the next is read")
    func bad() {
        var splitter = LineSplitter()
        let long = [UInt8](repeating: 0x78, count: LineSplitter.maximum + 1)
        #expect(
            splitter.append(long + Array("\nok\n".utf8) + [0xFF, 0x0A] + Array("ok".utf8)) == [
                .tooLong, .text("ok"), .notUTF8,
            ])
        #expect(splitter.finish() == .text("ok"))
        #expect(splitter.append(long.dropLast() + [0x0A]).count == 1)
    }
}

import PeerModel
import Testing

@testable import PeerTerminal

/// A console with its terminal, and a clock that goes when it is told to.
struct ConsoleScene {
    var console: LiveConsole
    var model: ScreenModel
    var now = Instant(nanoseconds: 0)
    /// When each frame was written.
    var writes: [Instant] = []

    init(columns: Int = 40, rows: Int = 10) {
        let size = TerminalSize(columns: columns, rows: rows)
        console = LiveConsole(size: size, palette: Palette(.indexed))
        model = ScreenModel(size: size)
    }

    /// Lets a frame's time pass and draws.
    mutating func show() -> [String] {
        now = now + 1
        draw()
        return model.texts
    }

    mutating func draw() {
        guard case .write(let bytes, _) = console.step(at: now) else { return }
        writes.append(now)
        model.take(bytes)
        console.wrote(true)
    }

    mutating func type(_ text: String, completer: Completer = { _ in [] }) -> [ConsoleEvent] {
        now = now + 1
        return console.take(.bytes(Array(text.utf8)), at: now, completer: completer)
    }
}

@Suite struct LiveConsoleTests {
    @Test("What is typed is shown, and entered with the time when it was begun")
    func line() {
        var scene = ConsoleScene()
        #expect(scene.type("hel").isEmpty)
        let begun = scene.now
        #expect(scene.show() == ["> hel"])
        #expect(scene.type("lo\r") == [.line("hello", begun: begun)])
        #expect(scene.show() == ["> "])
        #expect(scene.type("\u{3}") == [.interrupt])
        #expect(scene.type("\u{4}") == [.endOfInput])
        #expect(scene.console.take(.ended, at: scene.now) == [.ended])
        #expect(scene.type("x\u{3}y").isEmpty)
        #expect(scene.type("\r") == [.line("y", begun: scene.now + -1)], "clearing begins a new line")
    }

    @Test("Lines that come in while someone types neither disturb the input nor cost a frame each")
    func flood() {
        var scene = ConsoleScene()
        _ = scene.type("half a line\u{1B}[D\u{1B}[D")
        _ = scene.show()
        let start = scene.now
        for number in 0..<1000 {
            scene.console.print([StyledText("line \(number)")])
            scene.now = start + Double(number) / 1000
            scene.draw()
        }
        #expect(scene.show().suffix(2) == ["line 999", "> half a line"])
        #expect(scene.model.texts.count == 1001 && scene.model.faults.isEmpty)
        for first in scene.writes {
            #expect(scene.writes.count { first <= $0 && $0 - first < 1 } <= 20, "from \(first)")
        }
        #expect(scene.model.column == 11)
    }

    @Test("Half a line stays as it is, its cursor too, while lines come in and progress goes on", arguments: [40, 80])
    func undisturbed(width: Int) {
        var scene = ConsoleScene(columns: width, rows: 10)
        _ = scene.type("half a line\u{1B}[D\u{1B}[D\u{1B}[D")
        for number in 0...20 {
            scene.console.print([StyledText("ada: line \(number)", .plain)])
            scene.console.area.transfers = [
                ProgressLine(label: "#3", name: "film.mkv", done: UInt64(number), total: 20, rate: 1e6, marks: "to bob")
            ]
            scene.console.area.status = "hosting ada and bob"
            let shown = scene.show()
            #expect(shown.suffix(2) == ["hosting ada and bob", "> half a line"])
            #expect(shown[shown.count - 3].contains("\(number * 5) %") && scene.model.column == 2 + 8)
            #expect(scene.model.faults.isEmpty && shown.count == number + 4)
        }
        _ = scene.type("X")
        #expect(scene.show().last == "> half a lXine")
    }

    @Test("Hints stand above the input until the next key")
    func hints() {
        var scene = ConsoleScene()
        _ = scene.type("/se\t") { _ in [CompletionCandidate("/send"), CompletionCandidate("/session")] }
        #expect(scene.show() == ["/send     /session", "> /se"])
        _ = scene.type("x\u{15}")
        #expect(scene.show() == ["> "])
        _ = scene.type("\u{1B}[200~one\ntwo\u{1B}[201~")
        #expect(scene.type("\r").isEmpty)
        let shown = scene.show()
        #expect(shown.first?.hasPrefix("Enter sends these 2 lines") ?? false)
        #expect(shown.dropFirst() == ["> one", "two"])
        _ = scene.type("!\u{1B}\r")
        #expect(scene.show().map { String($0.prefix(25)) } == ["Enter sends these 3 lines", "> one", "two!"])
        _ = scene.type("\u{7F}")
        #expect(scene.show().first?.hasPrefix("Enter sends these 2 lines") ?? false, "it stays true")
        guard case .line("one\ntwo!", _)? = scene.type("\r").first else { return #expect(Bool(false), "not sent") }
        _ = scene.type("\u{1B}[200~" + String(repeating: "x", count: Limits.text + 1) + "\u{1B}[201~")
        #expect(scene.show().first?.hasPrefix("Too long: 16384 bytes") ?? false)
    }

    @Test("A lone ESC is known by the silence behind it")
    func escape() {
        var scene = ConsoleScene()
        _ = scene.type("one\r\u{12}on\u{1B}")
        #expect(scene.show() == ["search: on > one"])
        _ = scene.console.take(.quiet, at: scene.now)
        #expect(scene.show() == ["> one"])
    }

    @Test("What comes while another program has the terminal is printed when it is ours again")
    func away() {
        var scene = ConsoleScene()
        scene.console.area.status = "status"
        scene.console.print(["first"])
        #expect(scene.type("typed\u{1A}") == [.suspend])
        _ = scene.show()
        scene.console.print(["last before"])
        scene.model.take(scene.console.leave())
        #expect(scene.model.texts == ["first", "last before"] && scene.model.column == 0)
        scene.console.print(["meanwhile"])
        #expect(scene.console.step(at: scene.now + 1) == .nothing)
        scene.model.take(Array("shell\r\n".utf8))
        _ = scene.console.take(.resumed(TerminalSize(columns: 40, rows: 10)), at: scene.now + 2)
        #expect(scene.show() == ["first", "last before", "shell", "meanwhile", "status", "> typed"])
    }

    @Test("Lines of a write that failed are printed later")
    func failed() {
        var scene = ConsoleScene()
        _ = scene.show()
        scene.console.print(["kept"])
        scene.now = scene.now + 1
        guard case .write = scene.console.step(at: scene.now) else { return #expect(Bool(false)) }
        scene.console.wrote(false)
        scene.console.print(["too"])
        #expect(scene.console.step(at: scene.now + 1) == .nothing)
        _ = scene.console.take(.resumed(TerminalSize(columns: 40, rows: 10)), at: scene.now)
        scene.model.take(Array("\r".utf8))
        #expect(scene.show() == ["kept", "too", "> "])
    }

    @Test("A frame that is too early is asked for again, and then nothing is left to do")
    func pace() {
        var scene = ConsoleScene()
        _ = scene.show()
        scene.console.print(["one"])
        scene.now = scene.now + 0.01
        #expect(scene.console.step(at: scene.now) == .wait(until: scene.now + -0.01 + FramePacer.interval))
        #expect(scene.console.step(at: scene.now) == .nothing, "the time is known already")
        #expect(scene.show() == ["one", "> "])
        #expect(scene.console.step(at: scene.now + 1) == .nothing)
    }
}

package import PeerModel

/// What a person at the terminal wants.
package enum ConsoleEvent: Equatable, Sendable {
    /// A line was entered, possibly of several lines; it was begun at that time.
    case line(String, begun: Instant)
    /// Ctrl-C on an empty line.
    case interrupt
    /// Ctrl-D on an empty line.
    case endOfInput
    /// Ctrl-Z: write what `leave()` gives, then stop.
    case suspend
    /// The terminal has gone.
    case ended
}

/// The whole terminal but for the terminal: keys, input, live area and screen as one machine; pure, time is an
/// argument.
///
/// After whatever was changed, ask `step(at:)` what to do, write what it gives, and say by `wrote(_:)` whether that
/// went well.
package struct LiveConsole: Sendable {
    package enum Step: Equatable, Sendable {
        case nothing
        /// In one write; with the rows that then stand below the cursor.
        case write([UInt8], rowsBelowCursor: Int?)
        /// Too early for a frame: ask again then.
        case wait(until: Instant)
    }

    /// What stands below the finished lines; input and hints are filled in here.
    package var area = LiveArea() { didSet { needsFrame = true } }
    /// What stands before the input.
    package var prompt: StyledText { didSet { needsFrame = true } }
    /// The lines entered before can be added to it.
    package var editor = LineEditor() { didSet { needsFrame = true } }

    private var decoder = KeyDecoder()
    private var screen: Screen
    private var size: TerminalSize
    private var pacer = FramePacer()
    private var hints: [StyledText] = []
    private var begun: Instant?
    private var needsFrame = true
    /// Someone else has the terminal.
    private var isAway = false
    /// Finished lines that are to be printed, and those of the write whose end is not known.
    private var unprinted: [StyledText] = []
    private var inFlight: [StyledText] = []

    package init(size: TerminalSize, palette: Palette, reflows: Bool = true, prompt: StyledText = "> ") {
        self.size = size
        self.prompt = prompt
        screen = Screen(size: size, palette: palette, reflows: reflows)
    }

    /// Finished lines, to be printed once, above the live area.
    package mutating func print(_ lines: [StyledText]) {
        guard !lines.isEmpty else { return }
        unprinted += lines
        needsFrame = true
    }

    /// Takes what the terminal sent; `completer` is asked when Tab was pressed.
    package mutating func take(
        _ event: TerminalEvent, at now: Instant, completer: Completer = { _ in [] }
    ) -> [ConsoleEvent] {
        switch event {
        case .bytes(let bytes): return take(decoder.feed(bytes), at: now, completer)
        case .quiet: return decoder.isWaiting ? take(decoder.silence(), at: now, completer) : []
        case .longQuiet: return decoder.isWaiting ? take(decoder.longSilence(), at: now, completer) : []
        case .resized(let size): resize(to: size)
        case .resumed(let size):
            resize(to: size)
            screen.forget()
            isAway = false
        case .ended: return [.ended]
        }
        return []
    }

    // MARK: Screen

    /// What is to be done now.
    package mutating func step(at now: Instant) -> Step {
        guard needsFrame, !isAway else { return .nothing }
        if !pacer.isDue(at: now) {
            switch pacer.request(at: now) {
            case .drawNow: break
            case .wait(let time): return .wait(until: time)
            case .isWaiting: return .nothing
            }
        }
        area.input = editor.view(prompt: prompt)
        area.hints = hints
        inFlight = unprinted
        unprinted = []
        needsFrame = false
        let bytes = screen.draw(area.frame(for: size), printing: inFlight)
        return bytes.isEmpty ? .nothing : .write(bytes, rowsBelowCursor: screen.rowsBelowCursor)
    }

    /// Whether what `step` gave was written; if not, someone else has the terminal until `resumed`, and no line is
    /// lost.
    package mutating func wrote(_ isWritten: Bool) {
        if !isWritten {
            unprinted = inFlight + unprinted
            screen.forget()
            isAway = true
            needsFrame = true
        }
        inFlight = []
    }

    /// Prints what is left to print, takes the live area away and draws no more until the terminal is resumed: before
    /// stopping and at the end.
    package mutating func leave() -> [UInt8] {
        let bytes =
            unprinted.isEmpty ? [] : screen.draw(Frame(rows: [], cursorRow: 0, cursorColumn: 0), printing: unprinted)
        unprinted = []
        isAway = true
        needsFrame = true
        return bytes + screen.clear()
    }

    private mutating func resize(to size: TerminalSize) {
        self.size = size
        screen.resize(to: size)
        needsFrame = true
    }

    // MARK: Keys

    private mutating func take(_ keys: [Key], at now: Instant, _ completer: Completer) -> [ConsoleEvent] {
        keys.compactMap { take($0, at: now, completer) }
    }

    private mutating func take(_ key: Key, at now: Instant, _ completer: Completer) -> ConsoleEvent? {
        hints = []
        let event = editor.handle(key, completer: completer)
        if let lines = editor.confirmedLines {
            hints = [StyledText("Enter sends these \(lines) lines as one message, Ctrl-C drops them.", .question)]
        }
        let begun = self.begun ?? now
        self.begun = editor.isEmpty ? nil : begun
        switch event {
        case .edited, .bell, .confirm: return nil
        case .submitted(let text): return .line(text, begun: begun)
        case .interrupt: return .interrupt
        case .endOfInput: return .endOfInput
        case .suspend: return .suspend
        case .redraw: screen.refresh()
        case .tooLong(let limit):
            hints = [StyledText("Too long: \(limit) bytes fit in a line. Nothing was inserted.", .warning)]
        case .candidates(let words): hints = LiveArea.columns(words, width: size.columns)
        }
        return nil
    }
}

/// Makes keys of the bytes that a terminal sends; pure, so time comes in as a call to `silence()`.
///
/// The bytes may be cut anywhere. Sequences that are unknown or broken are swallowed, and what is kept of one is
/// bounded.
package struct KeyDecoder: Sendable {
    /// Longer parameters belong to no key.
    private static let parametersAtMost = 32
    /// Far above what a message may hold, so that a too long one can be told from one that just misses the limit.
    package static let pasteAtMost = 1 << 20
    private static let pasteEnd = Array("\u{1B}[201~".utf8)

    enum State: Equatable {
        case ground
        /// After ESC; `isDoubled` after two, with which some terminals spell Alt and an arrow.
        case escape(isDoubled: Bool)
        /// After ESC `[`.
        case control(parameters: [UInt8], isDoubled: Bool)
        /// After ESC `O`.
        case single(isDoubled: Bool)
        /// In a string for the terminal (OSC, DCS and the like), which no key sends.
        case string(introducer: UInt8, isEmpty: Bool, sawEscape: Bool)
        /// The bytes after an old mouse report or a function key of the Linux console.
        case skipping(Int)
        case paste([UInt8], isTooLong: Bool)
    }

    var state = State.ground
    /// Nothing has come for a short while.
    private var isQuiet = false
    private var utf8 = UTF8Assembler()
    private var text = ""
    private var keys: [Key] = []

    package init() {}

    /// Bytes of an unfinished sequence are held back: call `silence()` when nothing follows.
    package var isWaiting: Bool { state != .ground || utf8.isPending }
    /// Between the marks of a paste.
    package var isPasting: Bool { if case .paste = state { true } else { false } }

    /// Takes what came and gives the keys that are complete with it.
    ///
    /// Ctrl-C that comes alone behind a pause is pressed by someone, even in a paste: its end was lost.
    package mutating func feed(_ bytes: some Sequence<UInt8>) -> [Key] {
        let bytes = Array(bytes)
        if isQuiet, bytes == [0x03], case .paste(let pasted, let isTooLong) = state {
            finishPaste(pasted[...], isTooLong: isTooLong)
        }
        isQuiet = false
        for byte in bytes { take(byte) }
        return drain()
    }

    /// Nothing came for a short while (some 50 ms): a lone ESC was the key of that name.
    ///
    /// A paste stays open: a slow line may pause in it.
    package mutating func silence() -> [Key] {
        isQuiet = true
        if utf8.isPending {
            utf8.reset()
            text += "\u{FFFD}"
        }
        switch state {
        case .ground, .paste: return drain()
        case .escape: add(.escape)
        case .control(let parameters, _) where parameters.isEmpty: add(.alt("["))
        case .single: add(.alt("O"))
        case .string(let introducer, isEmpty: true, _): add(.alt(Character(Unicode.Scalar(introducer))))
        case .control, .string, .skipping: break
        }
        state = .ground
        return drain()
    }

    /// Nothing came for seconds: the end of a paste was lost, so what is there is all of it.
    package mutating func longSilence() -> [Key] {
        guard case .paste(let bytes, let isTooLong) = state else { return silence() }
        finishPaste(bytes[...], isTooLong: isTooLong)
        return drain()
    }

    private mutating func drain() -> [Key] {
        flushText()
        defer { keys = [] }
        return keys
    }

    private mutating func flushText() {
        if !text.isEmpty { keys.append(.text(text)) }
        text = ""
    }

    mutating func add(_ key: Key) {
        flushText()
        keys.append(key)
    }

    mutating func addText(_ scalar: Unicode.Scalar) { text.unicodeScalars.append(scalar) }

    // MARK: One byte

    private mutating func take(_ byte: UInt8) {
        switch state {
        case .ground: takeInGround(byte)
        case .escape(let isDoubled): takeAfterEscape(byte, isDoubled: isDoubled)
        case .control(let parameters, let isDoubled): takeInControl(byte, parameters, isDoubled: isDoubled)
        case .single(let isDoubled): takeSingle(byte, isDoubled: isDoubled)
        case .string(let introducer, _, let sawEscape): takeInString(byte, introducer, sawEscape: sawEscape)
        case .skipping(let count):
            state = count > 1 ? .skipping(count - 1) : .ground
            if byte == 0x1B { state = .escape(isDoubled: false) }  // it was no such report after all
        case .paste: takeInPaste(byte)
        }
    }

    mutating func takeInGround(_ byte: UInt8) {
        switch utf8.take(byte) {
        case .more: break
        case .scalar(let scalar):
            switch scalar.value {
            case 0...0x1F, 0x7F: takeControlCharacter(byte)
            case 0x80...0x9F: break  // C1: from no keyboard
            default: addText(scalar)
            }
        case .broken: text += "\u{FFFD}"
        case .brokenBefore:
            text += "\u{FFFD}"
            takeInGround(byte)
        }
    }

    private mutating func takeControlCharacter(_ byte: UInt8) {
        switch byte {
        case 0x08, 0x7F: add(.backspace)
        case 0x09: add(.tab)
        case 0x0A, 0x0D: add(.enter)
        case 0x1B: state = .escape(isDoubled: false)
        default: add(.control(Self.controlCharacter(byte)))
        }
    }

    /// The character that makes this byte together with Ctrl.
    private static func controlCharacter(_ byte: UInt8) -> Character {
        let upper = Unicode.Scalar(byte ^ 0x40)
        return Character(Unicode.Scalar(upper.value | (upper.properties.isAlphabetic ? 0x20 : 0)) ?? upper)
    }

    private mutating func takeAfterEscape(_ byte: UInt8, isDoubled: Bool) {
        state = .ground
        switch byte {
        case UInt8(ascii: "["): state = .control(parameters: [], isDoubled: isDoubled)
        case UInt8(ascii: "O"): state = .single(isDoubled: isDoubled)
        case UInt8(ascii: "]"), UInt8(ascii: "P"), UInt8(ascii: "X"), UInt8(ascii: "^"), UInt8(ascii: "_"):
            state = .string(introducer: byte, isEmpty: true, sawEscape: false)
        case 0x1B: state = .escape(isDoubled: true)
        case 0x0A, 0x0D: add(.newline)
        case 0x08, 0x7F: add(.backspaceWord)
        case 0x20...0x7E: add(.alt(Character(Unicode.Scalar(byte))))
        default: takeInGround(byte)
        }
    }

    private mutating func takeInControl(_ byte: UInt8, _ parameters: [UInt8], isDoubled: Bool) {
        switch byte {
        case 0x20...0x3F:
            guard parameters.count < Self.parametersAtMost else { return }  // known by its length to be no key
            state = .control(parameters: parameters + [byte], isDoubled: isDoubled)
        case UInt8(ascii: "[") where parameters.isEmpty: state = .skipping(1)
        case UInt8(ascii: "M") where parameters.isEmpty: state = .skipping(3)
        case 0x40...0x7E:
            state = .ground
            if parameters.count < Self.parametersAtMost { finishControl(byte, parameters, isDoubled: isDoubled) }
        default:
            state = .ground
            takeInGround(byte)  // broken off: a control character in it is a key again
        }
    }

    private mutating func takeInString(_ byte: UInt8, _ introducer: UInt8, sawEscape: Bool) {
        switch byte {
        case 0x07: state = .ground  // BEL ends it, as ST does
        case UInt8(ascii: "\\") where sawEscape: state = .ground
        case _ where sawEscape:
            state = .escape(isDoubled: false)
            take(byte)
        case 0x18, 0x1A: state = .ground  // CAN and SUB cancel it
        default: state = .string(introducer: introducer, isEmpty: false, sawEscape: byte == 0x1B)
        }
    }

    // MARK: Paste

    private mutating func takeInPaste(_ byte: UInt8) {
        guard case .paste(var bytes, var isTooLong) = state else { return }
        state = .ground  // so that the bytes have one owner while they grow
        bytes.append(byte)
        if byte == UInt8(ascii: "~"), bytes.suffix(Self.pasteEnd.count) == Self.pasteEnd[...] {
            return finishPaste(bytes.dropLast(Self.pasteEnd.count), isTooLong: isTooLong)
        }
        if bytes.count > Self.pasteAtMost + Self.pasteEnd.count {
            isTooLong = true
            bytes.removeFirst(bytes.count - Self.pasteEnd.count)
        }
        state = .paste(bytes, isTooLong: isTooLong)
    }

    private mutating func finishPaste(_ bytes: ArraySlice<UInt8>, isTooLong: Bool) {
        state = .ground
        add(isTooLong ? .pasteTooLong : .paste(String(decoding: bytes, as: UTF8.self)))
    }
}

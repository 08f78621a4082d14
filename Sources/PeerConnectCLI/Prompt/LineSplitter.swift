internal import PeerModel

/// A line of input, or why it cannot be one.
enum InputLine: Equatable, Sendable {
    case text(String)
    case tooLong
    case notUTF8
    /// As long as a terminal's line can be: what was typed or pasted beyond is lost.
    case cut

    static let cutError = PeerConnectError(
        .tooLong, "The line was cut: the terminal itself takes no more than 4,095 bytes in one.",
        hint: "Send a longer text as a file, or through a pipe; without --plain there is no such limit.")
}

/// Cuts a stream of bytes into lines; memory stays bounded whatever comes.
struct LineSplitter: Sendable {
    /// The most bytes of a line: a message of 16 KiB with every byte escaped in JSON fits many times.
    static let maximum = 1 << 20

    /// The kernel drops what a terminal's line has beyond this, without a word (termios(3), canonical mode: 4,096 with
    /// the line feed).
    static let terminalLine = 4095

    /// Whether the bytes come from a terminal that keeps lines until they are whole.
    private let isFromTerminal: Bool
    private var pending: [UInt8] = []
    private var isOverlong = false

    init(isFromTerminal: Bool = false) { self.isFromTerminal = isFromTerminal }

    /// The lines that these bytes complete.
    mutating func append(_ bytes: some Sequence<UInt8>) -> [InputLine] {
        var lines: [InputLine] = []
        for byte in bytes {
            if byte == UInt8(ascii: "\n") {
                lines.append(takeLine())
            } else if pending.count < Self.maximum {
                pending.append(byte)
            } else {
                isOverlong = true
            }
        }
        return lines
    }

    /// The last line, if it had no line feed.
    mutating func finish() -> InputLine? { pending.isEmpty ? nil : takeLine() }

    private mutating func takeLine() -> InputLine {
        defer {
            pending.removeAll(keepingCapacity: true)
            isOverlong = false
        }
        if isOverlong { return .tooLong }
        // One that is exactly so long may be whole, but nobody can tell. Before it is read as UTF-8: it may end within a
        // character.
        if isFromTerminal, pending.count >= Self.terminalLine { return .cut }
        if pending.last == UInt8(ascii: "\r") { pending.removeLast() }
        return String(validating: pending, as: UTF8.self).map { .text($0) } ?? .notUTF8
    }
}

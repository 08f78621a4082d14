internal import PeerModel

/// How many colours there are to choose from.
package enum ColorDepth: Sendable {
    /// No colour and no other attribute either.
    case none
    /// The eight of the terminal's own theme.
    case theme
    /// The fixed 256 of xterm.
    case indexed
}

/// The sequences that begin an ink, readable on light and on dark backgrounds.
///
/// Of the 256, those are used that have a contrast (WCAG 2.1) of at least 3.9 : 1 against black and against white; no
/// colour has more than 4.58 : 1 against both. The theme's eight are its author's: yellow and white vanish on light
/// backgrounds and blue on dark ones more often than not, and are left alone.
package struct Palette: Sendable {
    package let depth: ColorDepth

    package init(_ depth: ColorDepth) { self.depth = depth }

    /// Apart in hue from each other, and from the colours with a meaning as far as the limits above allow.
    static let indexedPeers = [64, 29, 31, 27, 99, 129, 164, 162]
    /// Green, magenta, cyan.
    static let themePeers = [32, 35, 36]
    static let indexedQuiet = 243, indexedGood = 28, indexedWarning = 130, indexedBad = 196
    static let reset = "\u{1B}[0m"

    /// The sequence that begins this ink after a reset; empty when there is none.
    func start(_ ink: Ink) -> String {
        switch depth {
        case .none: ""
        case .theme: Self.sequence(theme(ink))
        case .indexed: Self.sequence(indexed(ink))
        }
    }

    private func theme(_ ink: Ink) -> [Int] {
        switch ink {
        case .plain: []
        case .quiet: [2]  // there is no grey among the eight
        case .own, .question: [1]
        case .peer(let id): [Self.themePeers[Self.place(of: id, in: Self.themePeers.count)]]
        case .good: [32]
        case .warning: [1, 35]
        case .bad: [1, 31]
        }
    }

    private func indexed(_ ink: Ink) -> [Int] {
        switch ink {
        case .plain: []
        case .quiet: [38, 5, Self.indexedQuiet]
        case .own, .question: [1]
        case .peer(let id): [38, 5, Self.indexedPeers[Self.place(of: id, in: Self.indexedPeers.count)]]
        case .good: [38, 5, Self.indexedGood]
        case .warning: [1, 38, 5, Self.indexedWarning]
        case .bad: [1, 38, 5, Self.indexedBad]
        }
    }

    /// The ID is a hash, so its bytes are spread evenly as they are.
    private static func place(of id: PeerID, in count: Int) -> Int {
        Int((id.digest.bytes.last ?? 0)) % count
    }

    private static func sequence(_ numbers: [Int]) -> String {
        numbers.isEmpty ? "" : "\u{1B}[" + numbers.map { "\($0)" }.joined(separator: ";") + "m"
    }
}

package import PeerModel

/// What a piece of text is, which decides its colour; no meaning rests on the colour alone.
package enum Ink: Hashable, Sendable {
    case plain
    /// Times, numbers, what may be passed over.
    case quiet
    /// The own name.
    case own
    /// A peer, in the colour that its ID always has.
    case peer(PeerID)
    case good, warning, bad
    /// What waits for an answer.
    case question
}

/// Text for one line, in pieces of different ink; harmless, whatever it was made of.
package struct StyledText: Equatable, Sendable, ExpressibleByStringInterpolation {
    package struct Piece: Equatable, Sendable {
        package let text: String
        package let ink: Ink
    }

    package private(set) var pieces: [Piece] = []

    package init() {}
    package init(stringLiteral text: String) { append(text) }
    package init(_ text: String, _ ink: Ink = .plain) { append(text, ink) }

    /// Adds text; what would move the cursor or hide something in it is made visible.
    package mutating func append(_ text: String, _ ink: Ink = .plain) {
        let text = SafeText.line(text)
        if !text.isEmpty { pieces.append(Piece(text: text, ink: ink)) }
    }

    package static func + (left: StyledText, right: StyledText) -> StyledText {
        var sum = left
        sum.pieces += right.pieces
        return sum
    }

    /// In rows that fit, see `Row.wrapped(to:)`.
    package func wrapped(to width: Int) -> [StyledText] {
        cells.wrapped(to: width).map { row in
            var text = StyledText()
            for cell in row {
                if let last = text.pieces.last, last.ink == cell.ink {
                    text.pieces[text.pieces.count - 1] = Piece(text: last.text + cell.text, ink: cell.ink)
                } else {
                    text.pieces.append(Piece(text: cell.text, ink: cell.ink))
                }
            }
            return text
        }
    }

    /// The text as a finished line in rows that fit or that the terminal may wrap, see `Row.printed(to:)`.
    package func printed(to width: Int) -> [String] { cells.printed(to: width).map { $0.map(\.text).joined() } }

    /// The text without its inks.
    package var text: String { pieces.map(\.text).joined() }
    package var isEmpty: Bool { pieces.isEmpty }

    var cells: Row { pieces.flatMap { piece in piece.text.map { Cell($0, piece.ink) } } }
}

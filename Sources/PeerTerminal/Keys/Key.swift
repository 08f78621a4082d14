/// What a person did at the keyboard, however the terminal spells it.
package enum Key: Hashable, Sendable {
    /// Printable text; a grapheme cluster may come in several pieces when its bytes did.
    case text(String)
    /// Ctrl with this character, letters in lower case.
    case control(Character)
    /// Alt with this character.
    case alt(Character)
    case enter
    /// Alt-Enter, and Shift-Enter where the terminal tells it apart: a line end inside the text.
    case newline
    case tab, backTab, escape
    case backspace, backspaceWord, delete, deleteWord
    case up, down, left, right, wordLeft, wordRight, home, end, pageUp, pageDown
    /// What was pasted, between the marks of bracketed paste, as it came.
    case paste(String)
    /// A paste larger than the decoder keeps; nothing of it is given.
    case pasteTooLong
}

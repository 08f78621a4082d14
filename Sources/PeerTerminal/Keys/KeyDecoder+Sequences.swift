/// The sequences of xterm, the VT terminals, rxvt and the Linux console that stand for keys.
extension KeyDecoder {
    /// Modifiers as xterm sends them: a parameter of 1 plus these bits.
    private struct Modifiers: OptionSet {
        let rawValue: Int
        static let shift = Modifiers(rawValue: 1)
        static let alt = Modifiers(rawValue: 2)
        static let control = Modifiers(rawValue: 4)

        init(rawValue: Int) { self.rawValue = rawValue }

        init(parameter: Int?, isDoubled: Bool) {
            rawValue = (max(1, parameter ?? 1) - 1) & 7 | (isDoubled ? 2 : 0)
        }

        /// Moves and deletions go by words with either.
        var isByWord: Bool { contains(.alt) || contains(.control) }
    }

    /// After ESC `O`: keys of the application mode.
    mutating func takeSingle(_ byte: UInt8, isDoubled: Bool) {
        state = .ground
        switch byte {
        case UInt8(ascii: "M"): add(.enter)
        case 0x20...0x7E: addMove(byte, Modifiers(parameter: nil, isDoubled: isDoubled))
        default: takeInGround(byte)
        }
    }

    /// The end of a sequence that began with ESC `[`.
    mutating func finishControl(_ final: UInt8, _ parameters: [UInt8], isDoubled: Bool) {
        guard let numbers = Self.numbers(parameters) else { return }
        let modifiers = Modifiers(parameter: numbers.count > 1 ? numbers[1] : nil, isDoubled: isDoubled)
        switch final {
        case UInt8(ascii: "~"): finishTilde(numbers, modifiers)
        case UInt8(ascii: "u"): addModified(code: numbers.first ?? 0, modifiers)
        case UInt8(ascii: "Z"): add(.backTab)
        default: addMove(final, modifiers)
        }
    }

    private mutating func addMove(_ final: UInt8, _ modifiers: Modifiers) {
        switch final {
        case UInt8(ascii: "A"): add(.up)
        case UInt8(ascii: "B"): add(.down)
        case UInt8(ascii: "C"): add(modifiers.isByWord ? .wordRight : .right)
        case UInt8(ascii: "D"): add(modifiers.isByWord ? .wordLeft : .left)
        case UInt8(ascii: "H"): add(.home)
        case UInt8(ascii: "F"): add(.end)
        case UInt8(ascii: "c"): add(.wordRight)  // rxvt with Ctrl
        case UInt8(ascii: "d"): add(.wordLeft)
        default: break
        }
    }

    private mutating func finishTilde(_ numbers: [Int], _ modifiers: Modifiers) {
        switch numbers.first {
        case 1, 7: add(.home)
        case 4, 8: add(.end)
        case 3: add(modifiers.isByWord ? .deleteWord : .delete)
        case 5: add(.pageUp)
        case 6: add(.pageDown)
        case 27 where numbers.count == 3: addModified(code: numbers[2], modifiers)  // xterm's modifyOtherKeys
        case 200 where numbers.count == 1: state = .paste([], isTooLong: false)
        default: break
        }
    }

    /// A key that is given by its code point, as the kitty protocol and modifyOtherKeys do.
    private mutating func addModified(code: Int, _ modifiers: Modifiers) {
        switch code {
        case 13: add(modifiers.isEmpty || modifiers == .control ? .enter : .newline)
        case 9: add(modifiers.contains(.shift) ? .backTab : .tab)
        case 8, 127: add(modifiers.isByWord ? .backspaceWord : .backspace)
        case 27: add(.escape)
        case 0x20...0x7E:
            let character = Character(Unicode.Scalar(UInt8(code)))
            if modifiers.contains(.control) {
                add(.control(Character(character.lowercased())))
            } else if modifiers.contains(.alt) {
                add(.alt(character))
            } else {
                addText(Unicode.Scalar(UInt8(code)))
            }
        case 0xA0...0x10FFFF:
            guard let scalar = Unicode.Scalar(UInt32(code)), !(0xE000...0xF8FF).contains(code) else { return }
            addText(scalar)  // the range left out stands for keys without text
        default: break
        }
    }

    /// The numbers between semicolons; `nil` for the private and intermediate forms, which no key uses.
    private static func numbers(_ parameters: [UInt8]) -> [Int]? {
        var numbers = [0]
        for byte in parameters {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                let last = numbers.count - 1
                numbers[last] = min(numbers[last] * 10 + Int(byte & 0x0F), 0x11_0000)  // beyond any code point
            case UInt8(ascii: ";"): numbers.append(0)
            default: return nil
            }
        }
        return parameters.isEmpty ? [] : numbers
    }
}

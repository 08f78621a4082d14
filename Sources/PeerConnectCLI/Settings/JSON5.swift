/// A value of a JSON5 text, with the line it stands on.
///
/// FoundationEssentials reads JSON5 too, but does not say where a text is broken.
struct JSON5Value: Equatable, Sendable {
    enum Content: Equatable, Sendable {
        case null
        case bool(Bool)
        case number(Double)
        case string(String)
        case array([JSON5Value])
        /// In the order of the text.
        case object([Member])
    }

    struct Member: Equatable, Sendable {
        let key: String
        /// Where the key stands.
        let line: Int
        let value: JSON5Value
    }

    let content: Content
    let line: Int
}

/// A text that is not JSON5, and where it stops being it.
struct JSON5Error: Error, Equatable {
    let line: Int
    /// What is wrong there, as the end of a sentence.
    let problem: String
}

/// Reads JSON5 (json5.org, version 1.0.0).
struct JSON5Reader {
    /// As deep as anyone nests settings, and far from the end of the stack.
    private static let depthAtMost = 32

    private let scalars: [Unicode.Scalar]
    private var index = 0
    private var line = 1

    /// The one value of a text.
    static func read(_ text: String) throws(JSON5Error) -> JSON5Value {
        var reader = JSON5Reader(scalars: Array(text.unicodeScalars))
        if reader.peek == "\u{FEFF}" { reader.advance() }
        let value = try reader.value(depth: 0)
        try reader.skipBlanks()
        guard reader.peek == nil else { throw reader.error("something follows its end") }
        return value
    }

    private init(scalars: [Unicode.Scalar]) { self.scalars = scalars }

    private var peek: Unicode.Scalar? { index < scalars.count ? scalars[index] : nil }

    private func error(_ problem: String) -> JSON5Error { JSON5Error(line: line, problem: problem) }

    private mutating func advance() {
        // CR LF is one end of a line.
        if let scalar = peek, Self.endsLine(scalar),
            !(scalar == "\r" && index + 1 < scalars.count && scalars[index + 1] == "\n")
        {
            line += 1
        }
        index += 1
    }

    private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
        guard peek == scalar else { return false }
        advance()
        return true
    }

    private static func endsLine(_ scalar: Unicode.Scalar) -> Bool {
        ["\n", "\r", "\u{2028}", "\u{2029}"].contains(scalar)
    }

    /// White space and comments.
    private mutating func skipBlanks() throws(JSON5Error) {
        while let scalar = peek {
            if scalar.properties.isWhitespace || scalar == "\u{FEFF}" {
                advance()
            } else if scalar == "/" {
                try skipComment()
            } else {
                return
            }
        }
    }

    private mutating func skipComment() throws(JSON5Error) {
        let start = error("a comment is not closed")
        advance()
        if take("/") {
            while let scalar = peek, !Self.endsLine(scalar) { advance() }
        } else if take("*") {
            while peek != nil {
                if take("*") {
                    if take("/") { return }
                } else {
                    advance()
                }
            }
            throw start
        } else {
            throw error("a value cannot begin with /")
        }
    }

    // MARK: Values

    private mutating func value(depth: Int) throws(JSON5Error) -> JSON5Value {
        try skipBlanks()
        let line = line
        guard depth < Self.depthAtMost else { throw error("it is nested too deeply") }
        return JSON5Value(content: try content(depth: depth), line: line)
    }

    private mutating func content(depth: Int) throws(JSON5Error) -> JSON5Value.Content {
        switch peek {
        case nil: throw error("a value is missing at its end")
        case "{": return .object(try members(depth: depth))
        case "[": return .array(try elements(depth: depth))
        case "\""?, "'"?: return .string(try string())
        case let scalar? where Self.beginsWord(scalar): return try word()
        case let scalar?: throw error("a value cannot begin with \(scalar)")
        }
    }

    private mutating func elements(depth: Int) throws(JSON5Error) -> [JSON5Value] {
        var found: [JSON5Value] = []
        advance()
        while true {
            try skipBlanks()
            if take("]") { return found }
            found.append(try value(depth: depth + 1))
            try skipBlanks()
            if take("]") { return found }
            guard take(",") else { throw error("a comma or ] is missing") }
        }
    }

    private mutating func members(depth: Int) throws(JSON5Error) -> [JSON5Value.Member] {
        var found: [JSON5Value.Member] = []
        advance()
        while true {
            try skipBlanks()
            if take("}") { return found }
            let keyLine = line, key = try key()
            guard !found.contains(where: { $0.key == key }) else { throw error("“\(key)” is there twice") }
            try skipBlanks()
            guard take(":") else { throw error("a colon is missing behind “\(key)”") }
            found.append(JSON5Value.Member(key: key, line: keyLine, value: try value(depth: depth + 1)))
            try skipBlanks()
            if take("}") { return found }
            guard take(",") else { throw error("a comma or } is missing") }
        }
    }

    private mutating func key() throws(JSON5Error) -> String {
        if peek == "\"" || peek == "'" { return try string() }
        var key = ""
        while let scalar = peek, Self.isNamed(scalar) {
            key.unicodeScalars.append(scalar)
            advance()
        }
        guard !key.isEmpty else { throw error("the name of a setting is missing") }
        return key
    }

    private static func isNamed(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "$" || scalar == "_" || scalar.properties.isIDContinue
    }

    private static func beginsWord(_ scalar: Unicode.Scalar) -> Bool {
        ["+", "-", ".", "_", "$"].contains(scalar) || scalar.properties.isIDContinue
    }

    /// `true`, `null`, a number.
    private mutating func word() throws(JSON5Error) -> JSON5Value.Content {
        var word = ""
        while let scalar = peek, Self.beginsWord(scalar) {
            word.unicodeScalars.append(scalar)
            advance()
        }
        switch word {
        case "null": return .null
        case "true": return .bool(true)
        case "false": return .bool(false)
        default:
            guard let number = Self.number(word) else { throw error("“\(word)” is no value; texts are in quotes") }
            return .number(number)
        }
    }

    private static func number(_ word: String) -> Double? {
        let isNegative = word.hasPrefix("-")
        let digits = isNegative || word.hasPrefix("+") ? word.dropFirst() : word[...]
        let magnitude: Double?
        switch digits {
        case "Infinity": magnitude = .infinity
        case "NaN": magnitude = .nan
        case _ where digits.hasPrefix("0x") || digits.hasPrefix("0X"):
            magnitude = UInt64(digits.dropFirst(2), radix: 16).map { Double($0) }
        case _ where digits.first?.isASCII == true && "0123456789.".contains(digits.first ?? "x"):
            // A leading zero is octal elsewhere, and so refused; `1.` and `.5` are numbers here.
            let isOctal = digits.count > 1 && digits.first == "0" && digits.dropFirst().first?.isNumber == true
            magnitude = isOctal ? nil : Double(digits.hasSuffix(".") ? digits + "0" : digits)
        default: magnitude = nil
        }
        return magnitude.map { isNegative ? -$0 : $0 }
    }

    // MARK: Texts

    private mutating func string() throws(JSON5Error) -> String {
        guard let quote = peek else { return "" }
        let unclosed = error("a text is not closed with \(quote)")
        advance()
        var text = ""
        while let scalar = peek {
            if take(quote) { return text }
            guard scalar != "\n", scalar != "\r" else { throw unclosed }
            advance()
            if scalar == "\\" { text += try escape() } else { text.unicodeScalars.append(scalar) }
        }
        throw unclosed
    }

    private mutating func escape() throws(JSON5Error) -> String {
        guard let scalar = peek else { return "" }
        let isReturn = scalar == "\r"
        advance()
        switch scalar {
        case "b": return "\u{8}"
        case "f": return "\u{C}"
        case "n": return "\n"
        case "r": return "\r"
        case "t": return "\t"
        case "v": return "\u{B}"
        case "0": return "\0"
        case "x": return String(try scalarValue(digits: 2))
        case "u": return String(try escapedScalar())
        case _ where Self.endsLine(scalar):
            if isReturn { _ = take("\n") }
            return ""  // the text goes on in the next line
        case "1"..."9": throw error("\\\(scalar) is no escape")
        default: return String(scalar)
        }
    }

    private mutating func hexadecimal(digits: Int) throws(JSON5Error) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<digits {
            guard let scalar = peek, scalar.isASCII, let digit = Character(scalar).hexDigitValue else {
                throw error("an escape needs \(digits) hexadecimal digits")
            }
            value = value << 4 | UInt32(digit)
            advance()
        }
        return value
    }

    private mutating func scalarValue(digits: Int) throws(JSON5Error) -> Unicode.Scalar {
        guard let scalar = Unicode.Scalar(try hexadecimal(digits: digits)) else {
            throw error("an escape is no character")
        }
        return scalar
    }

    /// What lies beyond U+FFFF is a pair of surrogates.
    private mutating func escapedScalar() throws(JSON5Error) -> Unicode.Scalar {
        let first = try hexadecimal(digits: 4)
        if let scalar = Unicode.Scalar(first) { return scalar }
        guard first < 0xDC00, take("\\"), take("u") else { throw error("an escape is no character") }
        let second = try hexadecimal(digits: 4)
        guard (0xDC00...0xDFFF).contains(second),
            let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
        else { throw error("an escape is no character") }
        return scalar
    }
}

extension String {
    /// The text of a C array up to its zero byte; what is not UTF-8 is replaced.
    init(cArray: [CChar]) {
        self.init(decoding: cArray.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}

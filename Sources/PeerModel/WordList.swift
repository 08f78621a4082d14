/// 2,048 words of four letters, 11 bits each: to be read aloud and compared by people of any language.
///
/// Made of syllables, of no language in particular: one of sixteen consonants, one of four vowels, one of eight
/// consonants, one of four vowels, as in `bafo`. All are told apart by their four letters, and no `e`, `c`, `q`, `w`,
/// `x` or `y` is in them, which people of different languages say most differently.
package enum WordList {
    package static let count = 2048
    /// Bits a word stands for.
    package static let bits = 11

    private static let first = Array("bdfghjklmnprstvz")
    private static let vowels = Array("aiou")
    private static let second = Array("bdflnrsv")

    /// The word of a number below 2,048; of larger ones only the lowest 11 bits count.
    package static func word(_ number: Int) -> String {
        String([first[number >> 7 & 15], vowels[number >> 5 & 3], second[number >> 2 & 7], vowels[number & 3]])
    }

    /// The words of the first bits, the most significant bit first; `nil` when there are not enough.
    package static func words(_ bytes: [UInt8], count: Int) -> [String]? {
        guard count >= 0, bytes.count * 8 >= count * bits else { return nil }
        return (0..<count).map { index in
            word((index * bits..<(index + 1) * bits).reduce(0) { $0 << 1 | Int(bytes[$1 / 8] >> (7 - $1 % 8)) & 1 })
        }
    }
}

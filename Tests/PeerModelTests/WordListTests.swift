import PeerModel
import Testing

@Suite struct WordListTests {
    @Test("There are 2,048 words, each told apart by its four lower-case letters")
    func words() {
        let words = (0..<WordList.count).map(WordList.word)
        #expect(Set(words).count == 2048)
        #expect(words.allSatisfy { $0.count == 4 && $0.allSatisfy { "a"..."z" ~= $0 } })
        #expect(1 << WordList.bits == WordList.count)
    }

    @Test("Bytes become words bit by bit, from the left, and every bit counts")
    func bits() {
        #expect(WordList.words([0, 0, 0], count: 2) == ["baba", "baba"])
        #expect(WordList.words([0xFF, 0xFF, 0xFF], count: 2) == ["zuvu", "zuvu"])
        #expect(WordList.words([0, 0b0010_0000, 0], count: 2) == ["babi", "baba"])
        #expect(WordList.words([0, 0], count: 2) == nil)
        let zero = WordList.words([UInt8](repeating: 0, count: 17), count: 12)
        for bit in 0..<132 {
            var bytes = [UInt8](repeating: 0, count: 17)
            bytes[bit / 8] = 0x80 >> (bit % 8)
            #expect(WordList.words(bytes, count: 12) != zero)
        }
    }

    @Test("Numbers beyond the list give words of it all the same")
    func beyond() {
        #expect(WordList.word(2048) == WordList.word(0) && WordList.word(-1) == WordList.word(2047))
    }
}

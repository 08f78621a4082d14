import PeerModel
import PeerTLS
import Testing

@Suite struct SHA256Tests {
    /// The examples of FIPS 180-4, among them a million times "a".
    static let vectors: [([UInt8], String)] = [
        ([], "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        (Array("abc".utf8), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            Array("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq".utf8),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
        (
            [UInt8](repeating: UInt8(ascii: "a"), count: 1_000_000),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
        ),
    ]

    @Test("Hashes are those of the standard")
    func known() {
        for (input, expected) in Self.vectors {
            #expect(SHA256.hash(input).bytes == bytes(hex: expected))
            #expect(input.withUnsafeBytes { SHA256.hash($0).bytes } == bytes(hex: expected))
        }
    }

    @Test("A hash does not depend on how the bytes are cut", arguments: [1, 7, 63, 64, 65, 1000])
    func pieces(size: Int) {
        let input = (0..<1000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        var hash = SHA256()
        hash.update([])
        for start in stride(from: 0, to: input.count, by: size) {
            hash.update(Array(input[start..<min(start + size, input.count)]))
        }
        let result = hash.finish()
        #expect(result == SHA256.hash(input))
    }
}

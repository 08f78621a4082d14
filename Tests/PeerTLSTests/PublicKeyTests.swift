import PeerTLS
import Testing

@Suite struct PublicKeyTests {
    @Test("Only an Ed25519 key in its one form is a public key")
    func form() {
        let spki = SigningKeyTests.spki
        #expect(PublicKey(spki: spki)?.spki == spki)
        #expect(PublicKey(spki: []) == nil)
        #expect(PublicKey(spki: Array(spki.dropLast())) == nil)
        #expect(PublicKey(spki: spki + [0]) == nil)
        for index in 0..<12 {
            var changed = spki
            changed[index] ^= 1
            #expect(PublicKey(spki: changed) == nil, "changed at \(index)")
        }
    }

    @Test("A signature holds for its bytes and its key alone")
    func tampering() {
        let key = SigningKey.generate(), text = Array("a line".utf8)
        let signature = key.sign(text)
        #expect(signature.count == 64)
        #expect(key.publicKey.isValid(signature: signature, for: text))
        for index in text.indices {
            var changed = text
            changed[index] ^= 1
            #expect(!key.publicKey.isValid(signature: signature, for: changed), "text changed at \(index)")
        }
        for index in signature.indices {
            var changed = signature
            changed[index] ^= 0x80
            #expect(!key.publicKey.isValid(signature: changed, for: text), "signature changed at \(index)")
        }
        #expect(!SigningKey.generate().publicKey.isValid(signature: signature, for: text))
        for wrong in [[], Array(signature.dropLast()), signature + [0], [UInt8](repeating: 0xFF, count: 64)] {
            #expect(!key.publicKey.isValid(signature: wrong, for: text))
        }
    }

    @Test("A public key that is no point of the curve accepts nothing")
    func notAPoint() throws {
        let spki = Array(SigningKeyTests.spki.prefix(12)) + [UInt8](repeating: 0xFF, count: 32)
        let odd = try #require(PublicKey(spki: spki))
        #expect(!odd.isValid(signature: [UInt8](repeating: 0, count: 64), for: [1]))
    }
}

import PeerModel
import PeerTLS
import Testing

@Suite struct SigningKeyTests {
    /// From RFC 8410: the key of section 10.3, whose public half is in section 10.1.
    static let pem = """
        -----BEGIN PRIVATE KEY-----
        MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC
        -----END PRIVATE KEY-----

        """
    static let spki = bytes(
        hex: """
            302a300506032b6570032100
            19bf44096984cdfe8541bac167dc3b96c85086aa30b6b6cb0c5c38ad703166e1
            """)

    @Test("A key survives PEM, and the PEM is the standard one")
    func roundTrip() throws {
        let key = try SigningKey(pem: Array(Self.pem.utf8))
        #expect(key.publicKey.spki == Self.spki)
        #expect(String(decoding: key.pem(), as: UTF8.self) == Self.pem)
        let other = SigningKey.generate()
        let copy = try SigningKey(pem: other.pem())
        #expect(copy.publicKey == other.publicKey)
        #expect(copy.sign([1, 2, 3]) == other.sign([1, 2, 3]))
    }

    @Test("The peer ID is the hash of the public key, so it is the same on every machine")
    func peerID() throws {
        let key = try SigningKey(pem: Array(Self.pem.utf8))
        #expect(key.publicKey.peerID.description == "uhurkycu4bh2zcm25hzhkezm3qd2lw6e5iwcvu5b77dobustnapq")
    }

    @Test("Two generated keys differ")
    func unique() { #expect(SigningKey.generate().publicKey != SigningKey.generate().publicKey) }

    @Test("A damaged PEM is an error wherever the damage is")
    func damaged() {
        let pem = Array(Self.pem.utf8)
        let body = "-----BEGIN PRIVATE KEY-----\n".utf8.count
        for end in [0, 1, body - 1, body, body + 20, body + 62] {
            #expect(throws: KeyError.unreadable, "cut at \(end)") { try SigningKey(pem: Array(pem[..<end])) }
        }
        // The characters of the DER header, where each change makes another structure.
        for index in body..<(body + 18) {
            var changed = pem
            changed[index] = changed[index] == UInt8(ascii: "/") ? UInt8(ascii: "+") : UInt8(ascii: "/")
            #expect(throws: KeyError.self, "changed at \(index)") { try SigningKey(pem: changed) }
        }
        for garbage in [[], [0], [UInt8](repeating: 0xFF, count: 100_000)] as [[UInt8]] {
            #expect(throws: KeyError.unreadable) { try SigningKey(pem: garbage) }
        }
    }

    @Test("A key of another kind is refused as such", arguments: ForeignKeys.all)
    func otherAlgorithms(pem: String) {
        #expect(throws: KeyError.notEd25519) { try SigningKey(pem: Array(pem.utf8)) }
    }

    @Test("An encrypted key is refused without asking anybody")
    func encrypted() {
        #expect(throws: KeyError.unreadable) { try SigningKey(pem: Array(ForeignKeys.encrypted.utf8)) }
    }

    @Test("Signatures are those of RFC 8032, section 7.1")
    func knownSignatures() throws {
        let third = try SigningKey(
            pem: pem(ofSeed: bytes(hex: "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7")))
        let signature = bytes(
            hex: """
                6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac
                18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a
                """)
        #expect(third.sign([0xAF, 0x82]) == signature)
        #expect(third.publicKey.isValid(signature: signature, for: [0xAF, 0x82]))
        // The first one signs no bytes at all.
        let first = try SigningKey(
            pem: pem(ofSeed: bytes(hex: "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60")))
        #expect(first.sign([]).starts(with: bytes(hex: "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065")))
        #expect(first.publicKey.isValid(signature: first.sign([]), for: []))
    }

    /// PKCS#8 of an Ed25519 key: a fixed header and the seed.
    private func pem(ofSeed seed: [UInt8]) -> [UInt8] {
        let der = bytes(hex: "302e020100300506032b657004220420") + seed
        return Array("-----BEGIN PRIVATE KEY-----\n\(base64(der))\n-----END PRIVATE KEY-----\n".utf8)
    }
}

internal import PeerModel
internal import PeerTLS

/// The text of a key file: the display name on a line of its own, then the key as PKCS#8 in PEM.
///
/// RFC 7468, section 2, allows text before the PEM block, so other programs can read the key.
enum KeyFile {
    static let suffix = ".pem"
    /// A file is about 200 bytes; nothing longer is read.
    static let maximumSize = 4096
    private static let header = "Display-Name: "

    /// The bytes to write; the name is percent-encoded, so that it is one line of ASCII whatever it holds.
    static func encode(_ identity: LocalIdentity) -> [UInt8] {
        Array((header + percentEncode(identity.displayName.description) + "\n").utf8) + identity.key.pem()
    }

    /// `nil` for anything but a whole file.
    static func decode(_ bytes: [UInt8]) -> LocalIdentity? {
        guard bytes.starts(with: header.utf8), let end = bytes.firstIndex(of: UInt8(ascii: "\n")),
            let text = percentDecode(bytes[header.utf8.count..<end])
        else { return nil }
        do {
            let name = try DisplayName(text)
            guard name.description.utf8.elementsEqual(text.utf8) else { return nil }
            return LocalIdentity(key: try SigningKey(pem: Array(bytes[(end + 1)...])), displayName: name)
        } catch {
            return nil
        }
    }

    static func percentEncode(_ text: String) -> String {
        var result = ""
        for byte in text.utf8 {
            if byte > 0x20, byte < 0x7F, byte != UInt8(ascii: "%") {
                result.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                result += "%" + (byte < 0x10 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }
        return result
    }

    static func percentDecode(_ text: ArraySlice<UInt8>) -> String? {
        var bytes: [UInt8] = []
        var rest = text
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(hexValue), let low = rest.popFirst().flatMap(hexValue) else {
                return nil
            }
            bytes.append(high << 4 | low)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func hexValue(_ byte: UInt8) -> UInt8? {
        Character(Unicode.Scalar(byte)).hexDigitValue.map(UInt8.init)
    }
}

/// One mounted file system, as `/proc/self/mountinfo` tells of it (proc(5)).
package struct Mount: Hashable, Sendable {
    /// Where it is mounted.
    package let place: String
    /// Its type: `ext4`, `overlay`.
    package let type: String

    package init(place: String, type: String) {
        self.place = place
        self.type = type
    }

    /// The one that a path lies on; of several in one place the last counts, which hides the others.
    package static func holding(_ path: String, in text: String) -> Mount? {
        var best: Mount?
        for line in text.split(separator: "\n") {
            guard let mount = Mount(line), mount.covers(path), mount.place.utf8.count >= best?.place.utf8.count ?? 0
            else { continue }
            best = mount
        }
        return best
    }

    private init?(_ line: Substring) {
        let halves = line.split(separator: " - ", maxSplits: 1, omittingEmptySubsequences: false)
        guard halves.count == 2 else { return nil }
        let before = halves[0].split(separator: " "), after = halves[1].split(separator: " ")
        guard before.count > 4, let type = after.first else { return nil }
        self.init(place: Self.unescaped(before[4]), type: String(type))
    }

    private func covers(_ path: String) -> Bool {
        place == "/" || path == place || path.hasPrefix(place + "/")
    }

    /// Blanks and the like are written as a backslash and three octal digits.
    private static func unescaped(_ text: Substring) -> String {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            let digits = rest.prefix(3)
            if byte == UInt8(ascii: "\\"), digits.count == 3,
                let code = UInt8(String(decoding: digits, as: UTF8.self), radix: 8)
            {
                bytes.append(code)
                rest = rest.dropFirst(3)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// Names for things whose own name is taken: `a.txt`, `a (1).txt`, `a (2).txt`.
package enum NumberedName {
    /// `name` with a number before its ending, cut so that it stays within 255 bytes; the name itself for 0.
    package static func name(_ name: String, _ number: Int, isFolder: Bool) -> String {
        guard number > 0 else { return name }
        let (stem, ending) = isFolder ? (name[...], ""[...]) : split(name)
        let tail = " (\(number))\(ending)"
        return DisplayName.cut(String(stem), toBytes: max(1, SafePath.componentBytes - tail.utf8.count)) + tail
    }

    /// Stem and ending with its dot; `.tar.gz` is one ending, and a dot at the start begins none.
    private static func split(_ name: String) -> (Substring, Substring) {
        guard let dot = name.lastIndex(of: "."), dot > name.startIndex, name[dot...].utf8.count <= 16 else {
            return (name[...], "")
        }
        let stem = name[..<dot]
        if stem.hasSuffix(".tar"), stem.utf8.count > 4 {
            return (stem.dropLast(4), name.suffix(name[dot...].count + 4))
        }
        return (stem, name[dot...])
    }
}

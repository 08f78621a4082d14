internal import PeerModel

/// Names for file systems that do not take every name.
enum MendedName {
    /// `name` as Windows and its file systems take it ("Naming Files, Paths, and Namespaces"): `_` for what they refuse.
    static func forWindows(_ name: String) -> String {
        var scalars = String.UnicodeScalarView()
        for scalar in name.unicodeScalars {
            scalars.append(scalar.value < 0x20 || "\"*:<>?\\|".unicodeScalars.contains(scalar) ? "_" : scalar)
        }
        if let last = scalars.last, last == "." || last == " " {
            scalars.removeLast()
            scalars.append("_")
        }
        let text = String(scalars)
        let stem = text.prefix { $0 != "." }.uppercased()
        return devices.contains(stem) ? "_" + text : text
    }

    /// `name` without control characters: no file is called so on purpose, and a terminal or a script would act on them.
    static func withoutControls(_ name: String) -> String {
        let isControl = { (scalar: Unicode.Scalar) in scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value) }
        guard name.unicodeScalars.contains(where: isControl) else { return name }
        var scalars = String.UnicodeScalarView()
        for scalar in name.unicodeScalars { scalars.append(isControl(scalar) ? "_" : scalar) }
        return String(scalars)
    }

    /// A name for a file system that refused `name`: like one for Windows, and short.
    static func short(_ name: String) -> String {
        let mended = forWindows(name)
        guard mended.utf8.count > shortBytes else { return mended }
        let ending = mended.lastIndex(of: ".").map { mended[$0...] } ?? ""
        guard ending.utf8.count <= 16 else { return DisplayName.cut(mended, toBytes: shortBytes) }
        return DisplayName.cut(mended, toBytes: shortBytes - ending.utf8.count) + ending
    }

    /// What eCryptfs takes is 143; that is the least of those in use.
    private static let shortBytes = 120

    private static let devices: Set<String> = Set(
        ["CON", "PRN", "AUX", "NUL"] + (1...9).flatMap { ["COM\($0)", "LPT\($0)"] })
}

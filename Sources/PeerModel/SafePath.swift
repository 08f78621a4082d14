/// A relative path as a manifest carries it: components that name something below the folder they are used in.
package enum SafePath {
    /// Why a path is not taken.
    package enum Problem: Error, Equatable, Sendable {
        case empty
        /// It starts or ends with `/`, or has two of them in a row.
        case emptyComponent
        /// A component is `.` or `..`.
        case dots
        case zeroByte
        case componentTooLong
        case tooDeep
        case tooLong
    }

    /// Bytes of one component: `NAME_MAX` of Linux.
    package static let componentBytes = 255
    /// Components of a path.
    package static let depth = 64
    /// Bytes of a path: `PATH_MAX` of Linux without its zero byte.
    package static let bytes = 4095

    /// The path's components, of which there is at least one.
    package static func components(_ path: String) throws(Problem) -> [Substring] {
        guard !path.isEmpty else { throw .empty }
        guard path.utf8.count <= bytes else { throw .tooLong }
        var result: [Substring] = []
        // On bytes: a combining character behind a slash makes one `Character` of both.
        for part in path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            try checkComponent(part)
            guard result.count < depth else { throw .tooDeep }
            result.append(Substring(part))
        }
        return result
    }

    /// Throws unless this is the name of something in a folder.
    package static func checkName(_ name: String) throws(Problem) {
        guard !name.utf8.contains(UInt8(ascii: "/")) else { throw .emptyComponent }
        try checkComponent(name.utf8[...])
    }

    private static func checkComponent(_ part: Substring.UTF8View) throws(Problem) {
        guard !part.isEmpty else { throw .emptyComponent }
        guard part.count <= componentBytes else { throw .componentTooLong }
        let dot = UInt8(ascii: ".")
        guard !part.elementsEqual([dot]), !part.elementsEqual([dot, dot]) else { throw .dots }
        guard !part.contains(0) else { throw .zeroByte }
    }

    /// Whether a link at `path` (valid, at this depth) may point to `target`: it stays inside the path's first component.
    ///
    /// `..` may only stand at the start: behind a name that is itself a link it would lead elsewhere than it seems to.
    package static func staysInside(target: String, linkDepth: Int) -> Bool {
        guard !target.isEmpty, target.utf8.count <= bytes, !target.utf8.contains(0),
            target.utf8.first != UInt8(ascii: "/")
        else { return false }
        let dot = UInt8(ascii: ".")
        var depth = linkDepth - 1, hasName = false
        for part in target.utf8.split(separator: UInt8(ascii: "/")) {
            if part.elementsEqual([dot]) { continue }
            if part.elementsEqual([dot, dot]) {
                guard !hasName else { return false }
                depth -= 1
            } else {
                guard part.count <= componentBytes else { return false }
                hasName = true
            }
            guard depth >= 1 else { return false }
        }
        return depth >= 1
    }
}

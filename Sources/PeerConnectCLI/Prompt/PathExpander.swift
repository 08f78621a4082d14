internal import Glibc

/// What turns the words of a command into paths; tests pass a file system of their own.
struct PathExpander: Sendable {
    /// What `~` stands for.
    var home: String?
    /// The paths that match a pattern, sorted; none when nothing matches.
    var matches: @Sendable (String) -> [String]
    var isFolder: @Sendable (String) -> Bool = { _ in false }

    /// A pattern without a match stays as it is, so that the error can name it.
    func expand(_ word: ShellWord) -> [String] {
        var prefix = ""
        var rest = word
        if word.starts(with: "~"), let home, word.characters.count == 1 || word.characters[1].value == "/" {
            prefix = home
            rest.characters.removeFirst()
        }
        guard rest.isPattern else { return [prefix + rest.text] }
        let found = matches(Self.escaped(prefix) + rest.pattern)
        return found.isEmpty ? [prefix + rest.text] : found
    }

    /// Whether this begins with the home folder, if nothing protects its `~`.
    func isAtHome(_ text: String) -> Bool { home != nil && (text == "~" || text.hasPrefix("~/")) }

    /// The paths that begin with `text`, in its own spelling of the home folder; hidden ones only when it names one.
    func completions(of text: String, isAtHome: Bool) -> [(path: String, isFolder: Bool)] {
        // Others in the folder of the homes may begin alike.
        if isAtHome, text == "~" { return [("~", true)] }
        let prefix = isAtHome ? home ?? "" : ""
        let found = matches(Self.escaped(prefix + text.dropFirst(isAtHome ? 1 : 0)) + "*")
        return found.compactMap { path in
            guard !path.hasSuffix("/."), !path.hasSuffix("/.."), path != ".", path != ".." else { return nil }
            return ((isAtHome ? "~" : "") + path.dropFirst(prefix.count), isFolder(path))
        }
    }

    private static func escaped(_ text: String) -> String {
        text.map { "*?[]\\".contains($0) ? "\\\($0)" : String($0) }.joined()
    }

    /// glob(3) on the real file system; hidden files only for patterns that begin with a dot.
    static func real(home: String?) -> PathExpander {
        PathExpander(
            home: home,
            matches: { pattern in
                var found = glob_t()
                defer { globfree(&found) }
                guard glob(pattern, 0, nil, &found) == 0 else { return [] }
                return (0..<Int(found.gl_pathc)).compactMap { index in
                    found.gl_pathv[index].flatMap { String(validatingCString: $0) }
                }
            },
            isFolder: { path in
                var status = stat()
                return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
            })
    }
}

/// What the environment says about the terminal; pure.
package struct TerminalTraits: Equatable, Sendable {
    /// The cursor can be moved, so there can be a live area; without it only lines are appended.
    package let hasCursor: Bool
    package let depth: ColorDepth
    /// Lines are wrapped anew when the width changes.
    package let reflows: Bool

    package init(environment: [String: String]) {
        let name = environment["TERM"] ?? ""
        // terminfo(5): dumb can do nothing; unknown, emacs and cons25 shells say so by their names.
        hasCursor = !["", "dumb", "unknown", "emacs"].contains(name)
        if !hasCursor {
            depth = .none
        } else if name.contains("256color") || environment["COLORTERM"].map({ !$0.isEmpty }) ?? false {
            depth = .indexed
        } else {
            depth = .theme
        }
        // xterm sets this for its children; it and the Linux console cut rows instead.
        reflows = environment["XTERM_VERSION"] == nil && name != "linux"
    }
}

package import PeerModel
internal import PeerSystem

/// Where everything of a user is kept; absolute paths, none of which needs to exist yet.
///
/// The XDG folders (XDG Base Directory Specification 0.8, user-dirs.dirs(5)), or all of them below one home folder.
package struct Folders: Hashable, Sendable {
    package let config, data, state, cache, downloads: String

    /// Takes `home` (`--home`), else `PEERCONNECT_HOME`, else the XDG variables with `HOME`.
    ///
    /// - Parameters:
    ///   - home: A folder for everything; a relative path counts from the current folder.
    ///   - environment: The variables; those that are empty, and relative XDG paths, count as not set.
    /// - Throws: `cannot-start` when no home folder is known, `usage` for an empty `home`.
    package init(home: String?, environment: [String: String]) throws(PeerConnectError) {
        if let home, home.isEmpty {
            throw PeerConnectError(.usage, "The home folder's path is empty.", hint: "Name one: --home DIR.")
        }
        let variable = environment["PEERCONNECT_HOME"].flatMap { $0.isEmpty ? nil : $0 }
        if let home = home ?? variable {
            let root = try Self.absolute(home)
            config = root + "/config"
            data = root + "/data"
            state = root + "/state"
            cache = root + "/cache"
            downloads = root + "/downloads"
            return
        }
        guard let user = Self.path(environment["HOME"]) ?? Self.path(ThisProcess.home) else {
            throw PeerConnectError(
                .cannotStart, "No home folder is known: HOME is not set.",
                hint: "Set HOME, or name a folder with --home DIR.")
        }
        let base = Self.path(environment["XDG_CONFIG_HOME"]) ?? user + "/.config"
        config = base + "/peerconnect"
        data = (Self.path(environment["XDG_DATA_HOME"]) ?? user + "/.local/share") + "/peerconnect"
        state = (Self.path(environment["XDG_STATE_HOME"]) ?? user + "/.local/state") + "/peerconnect"
        cache = (Self.path(environment["XDG_CACHE_HOME"]) ?? user + "/.cache") + "/peerconnect"
        downloads =
            Self.path(environment["XDG_DOWNLOAD_DIR"])
            ?? Self.downloads(inUserDirectories: Self.text(of: base + "/user-dirs.dirs") ?? "", home: user)
            ?? user + "/Downloads"
    }

    /// The value of `XDG_DOWNLOAD_DIR` in the text of a `user-dirs.dirs`: `"$HOME/…"` or an absolute path, in quotes.
    static func downloads(inUserDirectories text: String, home: String) -> String? {
        var result: String?
        for line in text.split(separator: "\n") {
            let line = line.drop { $0 == " " || $0 == "\t" }
            guard line.hasPrefix("XDG_DOWNLOAD_DIR=\"") else { continue }
            var value = "", isEscaped = false, isClosed = false
            for character in line.dropFirst("XDG_DOWNLOAD_DIR=\"".count) {
                if !isEscaped, character == "\"" {
                    isClosed = true
                    break
                }
                if !isEscaped, character == "\\" {
                    isEscaped = true
                } else {
                    isEscaped = false
                    value.append(character)
                }
            }
            guard isClosed else { continue }
            if value.hasPrefix("$HOME/") {
                // "$HOME/" alone is how a user says that there is no such folder; the home folder is none either.
                result = path(home + value.dropFirst("$HOME".count)).flatMap { $0 == home ? nil : $0 }
            } else {
                result = path(value)
            }
        }
        return result
    }

    /// An absolute path without slashes at its end.
    private static func path(_ text: String?) -> String? {
        guard var text = text?[...], text.hasPrefix("/") else { return nil }
        while text.count > 1, text.hasSuffix("/") { text.removeLast() }
        return String(text)
    }

    private static func absolute(_ text: String) throws(PeerConnectError) -> String {
        if let path = path(text) { return path }
        do throws(SystemError) {
            let whole = try Paths.absolute(text)
            return path(whole) ?? whole
        } catch {
            throw PeerConnectError(
                .cannotStart, "The folder \(text) cannot be found: there is no current folder.",
                hint: "Go to a folder that exists, or name this one by its whole path.", cause: error)
        }
    }

    /// `nil` for a file that is not there, too long, or not UTF-8: a default takes its place.
    private static func text(of file: String) -> String? {
        do {
            let name = file.split(separator: "/").last.map(String.init) ?? file
            let folder = try PrivateFolder.open(String(file.dropLast(name.count + 1)), isSecret: false)
            guard let bytes = try folder?.read(name, atMost: 64 << 10, isSecret: false) else { return nil }
            return String(validating: bytes, as: UTF8.self)
        } catch {
            return nil
        }
    }
}

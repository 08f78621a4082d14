internal import Glibc
internal import PeerModel

/// The user and the machine, for defaults only: nothing that is stored depends on them later.
enum Account {
    /// The home folder in the system's list of users, for a service that starts without HOME.
    static func home() -> String? {
        var entry = passwd()
        var found: UnsafeMutablePointer<passwd>?
        var buffer = [CChar](repeating: 0, count: 16 << 10)
        return buffer.withUnsafeMutableBufferPointer { buffer in
            // The text lies in the buffer, so it is copied before that goes.
            guard let start = buffer.baseAddress,
                getpwuid_r(geteuid(), &entry, start, buffer.count, &found) == 0, found != nil
            else { return nil }
            return entry.pw_dir.map { String(cString: $0) }
        }
    }

    /// `LOGIN@HOST` without control characters, cut to 63 bytes on a character border.
    static func proposedName(login: String, host: String) -> DisplayName {
        let visible = (login.isEmpty || host.isEmpty ? login + host : login + "@" + host).unicodeScalars
            .filter { $0.properties.generalCategory != .control }
        let text = DisplayName.cut(String(String.UnicodeScalarView(visible)), toBytes: DisplayName.maximumBytes)
        do { return try DisplayName(text) } catch { return fallback }
    }

    private static let fallback: DisplayName = {
        do { return try DisplayName("peer") } catch { preconditionFailure("“peer” is a display name") }
    }()
}

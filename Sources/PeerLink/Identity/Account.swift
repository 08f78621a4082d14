internal import PeerModel

/// What a first run proposes; nothing that is stored depends on user or machine later.
enum Account {
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

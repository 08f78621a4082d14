internal import PeerModel

/// What `config.json5` says: each setting as its option's text, checked by whoever reads that option.
struct SettingsFile: Equatable, Sendable {
    static let name = "config.json5"

    /// One setting.
    struct Entry: Equatable, Sendable {
        /// The values its option would have; empty for a list that is empty, `["true"]` or `["false"]` for a switch.
        let values: [String]
        let line: Int
    }

    let path: String
    /// By name.
    private(set) var entries: [String: Entry] = [:]
    /// The IDs of each group, by its name.
    private(set) var groups: [String: [String]] = [:]

    /// None of it is set.
    init(path: String) { self.path = path }

    /// - Throws: `cannot-start` with the line of what is wrong.
    init(_ text: String, path: String) throws(PeerConnectError) {
        self.path = path
        let root: JSON5Value
        do { root = try JSON5Reader.read(text) } catch {
            throw Self.broken(path, error.line, error.problem)
        }
        guard case .object(let members) = root.content else {
            throw Self.broken(path, root.line, "the settings are not in braces: { … }")
        }
        for member in members {
            if member.key == "groups" {
                groups = try Self.groups(member.value, path)
                continue
            }
            guard let setting = Setting.all.first(where: { $0.name == member.key }) else {
                throw unknown(member)
            }
            let entry = Entry(values: try Self.values(member.value, of: setting, path), line: member.line)
            if let problem = setting.problem(entry.values) {
                throw Self.broken(path, member.value.line, "“\(setting.name)” \(problem)")
            }
            entries[setting.name] = entry
        }
    }

    private func unknown(_ member: JSON5Value.Member) -> PeerConnectError {
        let close = nearest(to: member.key, among: Setting.all.map(\.name) + ["groups"])
        return Self.broken(
            path, member.line,
            "there is no setting “\(member.key)”" + (close.map { "; did you mean “\($0)”?" } ?? ""))
    }

    static func broken(_ path: String, _ line: Int, _ problem: String) -> PeerConnectError {
        PeerConnectError(
            .cannotStart, "\(path), line \(line): \(problem)" + (problem.hasSuffix("?") ? "" : "."),
            hint: "Mend the file, or move it away.")
    }

    private static func values(
        _ value: JSON5Value, of setting: Setting, _ path: String
    ) throws(PeerConnectError) -> [String] {
        switch (value.content, setting.kind) {
        case (.bool(let isOn), .flag): return [isOn ? "true" : "false"]
        case (.string(let text), .text), (.string(let text), .texts): return [text]
        case (.number(let number), .text):
            // Exact for every whole number that a size or a port can be.
            if number >= 0, let whole = UInt64(exactly: number) { return ["\(whole)"] }
        case (.array(let elements), .texts):
            var texts: [String] = []
            for element in elements {
                guard case .string(let text) = element.content else {
                    throw broken(path, element.line, "“\(setting.name)” takes texts in quotes")
                }
                texts.append(text)
            }
            return texts
        default: break
        }
        throw broken(path, value.line, "“\(setting.name)” takes \(setting.takes)")
    }

    private static func groups(_ value: JSON5Value, _ path: String) throws(PeerConnectError) -> [String: [String]] {
        guard case .object(let members) = value.content else {
            throw broken(path, value.line, "“groups” takes names with lists of IDs in braces")
        }
        var groups: [String: [String]] = [:]
        for member in members {
            guard !member.key.isEmpty, case .array(let elements) = member.value.content else {
                throw broken(path, member.line, "the group “\(member.key)” is no list of IDs")
            }
            groups[member.key] = []
            for element in elements {
                guard case .string(let text) = element.content, let id = PeerID(text) else {
                    throw broken(
                        path, element.line, "the group “\(member.key)” takes full IDs, each of 52 characters in quotes")
                }
                groups[member.key]?.append(id.description)
            }
        }
        return groups
    }
}

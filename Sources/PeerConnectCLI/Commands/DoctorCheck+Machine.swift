internal import PeerModel
internal import PeerSystem

/// Whether this machine keeps what it has to keep.
extension DoctorCheck {
    static func settings(_ facts: DoctorFacts) -> DoctorCheck {
        let name = "settings"
        guard let problem = facts.settingsProblem else { return .pass(name, "The settings can be used.") }
        let message = problem.message.hasSuffix(".") ? String(problem.message.dropLast()) : problem.message
        return .fail(name, "\(message); other commands do not start with that, and the checks below take the defaults.")
    }

    static func data(_ facts: DoctorFacts) -> DoctorCheck {
        let name = "data", place = facts.data
        if let problem = facts.identityProblem {
            return .fail(name, problem.message, mend: problem.hint.flatMap(command))
        }
        guard place.isWritable else {
            let shown = place.existing == place.path ? "cannot be written" : "cannot be made in \(place.existing)"
            return .fail(
                name, "The folder for identities, \(place.path), \(shown).", mend: "ls -ld \(quoted(place.existing))"
            )
        }
        return .pass(name, "Identities are kept in \(place.path), which is private and can be written.")
    }

    /// The command inside a hint, if there is one: `…with: chmod -R go= 'x'. …`.
    private static func command(in hint: String) -> String? {
        let commands = ["sudo chown ", "chmod "]
        guard let start = commands.lazy.compactMap({ hint.firstRange(of: $0) }).first else { return nil }
        let rest = hint[start.lowerBound...]
        guard let end = rest.lastIndex(of: "'") else { return nil }
        return String(rest[...end])
    }

    /// For a shell.
    private static func quoted(_ path: String) -> String {
        "'" + path.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }

    static func identity(_ facts: DoctorFacts) -> DoctorCheck {
        let name = "identity"
        let isKnown = facts.identities.isEmpty ? "The first chat makes an identity." : "This peer has an identity."
        // Other containers are often as lasting as a machine.
        guard facts.container == .docker || facts.container == .podman, let mount = facts.data.mount else {
            return .pass(name, isKnown)
        }
        if mount.place == "/" || mount.type == "tmpfs" {
            return .warn(
                name,
                "The identity is lost with this container, since \(facts.data.path) is not on a volume: peers will not "
                    + "know this one again.",
                mend: DoctorMend(facts).container("--volume peerconnect:\(quoted(facts.data.path)) …"))
        }
        return .pass(name, "The identity is on a volume, \(mount.place).")
    }

    /// Below this a transfer of any size is about to fail.
    private static let scarce: UInt64 = 1 << 30

    static func space(_ name: String, _ place: DoctorFacts.Place, _ facts: DoctorFacts) -> DoctorCheck {
        let what = name == "cache" ? "Files for others" : "Received files"
        guard place.isWritable else {
            let shown = place.existing == place.path ? "cannot be written" : "cannot be made in \(place.existing)"
            return .fail(
                name, "\(what) have no place: \(place.path) \(shown).",
                mend: name == "cache" ? nil : "peerconnect chat --into DIR")
        }
        guard let free = place.free else { return .warn(name, "It cannot be told how much space \(place.path) has.") }
        let amount = Amount.bytes(free)
        if free <= Limits.reservedSpace {
            return .fail(
                name, "\(what) do not fit: \(place.path) has \(amount) left.", mend: "df -h \(quoted(place.existing))")
        }
        if free < scarce {
            return .warn(
                name, "\(what) may not fit: \(place.path) has \(amount) left.", mend: "df -h \(quoted(place.existing))")
        }
        return .pass(name, "\(what) go to \(place.path), where \(amount) are free.")
    }

    /// The year this program is from, and one that nobody will run it in: milliseconds since 1970.
    private static let plausible: ClosedRange<Int64> = 1_767_225_600_000...4_102_444_800_000

    static func clock(_ facts: DoctorFacts) -> DoctorCheck {
        let name = "clock", shown = Timestamp.rfc3339(facts.now)
        if plausible.contains(facts.now) { return .pass(name, "The clock is plausible, \(shown).") }
        return .warn(
            name, "The clock is wrong, it says \(shown): the times of lines will be, too.",
            mend: facts.hasSystemd
                ? DoctorMend(facts).asRoot("timedatectl set-ntp true")
                : DoctorMend(facts).asRoot("date -s 'YYYY-MM-DD HH:MM'"))
    }
}

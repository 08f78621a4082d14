internal import PeerModel

/// What one check of `doctor` has found.
struct DoctorCheck: Equatable, Sendable {
    enum Verdict: String, Sendable {
        case pass
        /// It works, or may work, but not as well as it could.
        case warn
        /// Peers are not seen, or cannot connect.
        case fail
    }

    /// For scripts; it never changes.
    let name: String
    let verdict: Verdict
    /// One sentence for a person.
    let sentence: String
    /// The command that mends it, if there is one.
    let mend: String?

    static func pass(_ name: String, _ sentence: String) -> DoctorCheck {
        DoctorCheck(name: name, verdict: .pass, sentence: sentence, mend: nil)
    }

    static func warn(_ name: String, _ sentence: String, mend: String? = nil) -> DoctorCheck {
        DoctorCheck(name: name, verdict: .warn, sentence: sentence, mend: mend)
    }

    static func fail(_ name: String, _ sentence: String, mend: String? = nil) -> DoctorCheck {
        DoctorCheck(name: name, verdict: .fail, sentence: sentence, mend: mend)
    }

    /// All checks, from the ground up: what comes later often fails because of something before it.
    static func all(_ facts: DoctorFacts) -> [DoctorCheck] {
        var checks = [
            settings(facts), interfaces(facts), pointToPoint(facts), container(facts), bus(facts), daemon(facts),
            backend(facts),
            multicast(facts), responders(facts),
        ]
        if let trial = facts.trial { checks += [publishing(trial, facts), advert(trial, facts), peers(trial, facts)] }
        checks += [
            port(facts), firewall(facts), data(facts), identity(facts), space("downloads", facts.downloads, facts),
            space("cache", facts.cache, facts), clock(facts),
        ]
        return checks
    }

    /// The record for scripts.
    var json: JSONEvent {
        JSONEvent(
            "check",
            [
                ("name", .string(name)), ("status", .string(verdict.rawValue)), ("message", .string(sentence)),
                ("command", JSONValue(mend)),
            ])
    }

    /// The lines for people.
    var lines: [String] {
        let word = verdict == .fail ? "FAIL" : verdict.rawValue
        return ["\(word)  \(SafeText.line(sentence))"] + (mend.map { ["      try: \(SafeText.line($0))"] } ?? [])
    }
}

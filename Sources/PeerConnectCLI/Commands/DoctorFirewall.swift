internal import FoundationEssentials

/// The rules of nftables, as `nft -j list ruleset` prints them (libnftables-json(5)), and what they do to a packet.
///
/// What a rule compares and this does not know counts as possible either way: an answer is only given when it is sure.
struct DoctorFirewall: Sendable {
    /// What may become of a packet.
    enum Fate: Hashable, Sendable {
        case accepted, dropped
    }

    /// The chain that surely drops a packet.
    struct Chain: Hashable, Sendable {
        let family, table, name: String

        /// As nft names it.
        var place: String { "\(family) \(table) \(name)" }
    }

    /// A packet of a new connection, or one of multicast DNS.
    struct Packet: Sendable {
        let hooks: Set<String>
        let transport: String
        let port: Int64
        let interface: String
        let isIPv4: Bool

        /// A question or answer of multicast DNS that comes in, or goes out.
        static func multicast(isIncoming: Bool, on interface: String, isIPv4: Bool) -> Packet {
            Packet(
                hooks: isIncoming ? ["prerouting", "input"] : ["output", "postrouting"], transport: "udp", port: 5353,
                interface: interface, isIPv4: isIPv4)
        }

        /// A peer that connects.
        static func connection(to port: UInt16, on interface: String, isIPv4: Bool) -> Packet {
            Packet(
                hooks: ["prerouting", "input"], transport: "tcp", port: Int64(port), interface: interface,
                isIPv4: isIPv4)
        }

        var isIncoming: Bool { hooks.contains("input") }
        var isMulticast: Bool { transport == "udp" }
    }

    private struct Base {
        let chain: Chain
        let hook: String
        let policy: Fate
    }

    private struct Name: Hashable {
        let family, table, name: String
    }

    private var bases: [Base] = []
    private var rules: [Name: [[DoctorJSON]]] = [:]
    private var sets: [Name: DoctorJSON] = [:]

    /// `nil` for anything but such a list.
    init?(_ json: [UInt8]) {
        guard let root = try? JSONDecoder().decode(DoctorJSON.self, from: Data(json)),
            let list = root["nftables"]?.items
        else { return nil }
        for item in list {
            guard let (kind, body) = item.only, let family = body["family"]?.text,
                ["ip", "ip6", "inet"].contains(family)
            else { continue }
            let table = body["table"]?.text ?? "", name = body["name"]?.text ?? ""
            switch kind {
            case "chain":
                guard let hook = body["hook"]?.text else { break }
                let chain = Chain(family: family, table: table, name: name)
                bases.append(
                    Base(chain: chain, hook: hook, policy: body["policy"]?.text == "drop" ? .dropped : .accepted))
            case "rule":
                let chain = body["chain"]?.text ?? ""
                rules[Name(family: family, table: table, name: chain), default: []].append(body["expr"]?.items ?? [])
            case "set": sets[Name(family: family, table: table, name: name)] = body["elem"] ?? .array([])
            default: break
            }
        }
    }

    /// Whether there is a rule, or a policy other than to accept.
    var isEmpty: Bool { rules.isEmpty && bases.allSatisfy { $0.policy == .accepted } }

    /// What may become of a packet; both when that depends on something unknown.
    func fates(of packet: Packet) -> Set<Fate> {
        var all: Set<Fate> = [.accepted]
        for base in bases(for: packet) {
            let fates = fates(of: packet, in: base)
            if fates == [.dropped] { return fates }
            all.formUnion(fates)
        }
        return all
    }

    /// The chains that surely drop a packet: each of them has to let it through.
    func droppers(of packet: Packet) -> [Chain] {
        bases(for: packet).filter { fates(of: packet, in: $0) == [.dropped] }.map(\.chain)
    }

    /// The chains of which it cannot be told whether they drop a packet.
    func doubtful(about packet: Packet) -> [Chain] {
        bases(for: packet).filter { fates(of: packet, in: $0).count > 1 }.map(\.chain)
    }

    private func bases(for packet: Packet) -> [Base] {
        bases.filter { base in
            packet.hooks.contains(base.hook) && (base.chain.family != (packet.isIPv4 ? "ip6" : "ip"))
        }
    }

    private func fates(of packet: Packet, in base: Base) -> Set<Fate> {
        let name = Name(family: base.chain.family, table: base.chain.table, name: base.chain.name)
        return Set(
            ends(of: packet, in: name, depth: 0).map { end in
                switch end {
                case .accept: .accepted
                case .drop: .dropped
                case .goOn: base.policy
                }
            })
    }
}

// MARK: - Walking through chains

extension DoctorFirewall {
    /// How a rule or a chain may end.
    private enum End: Hashable {
        case accept, drop
        /// With the next rule, or behind the chain.
        case goOn
    }

    /// The kernel allows 16 jumps; a list from elsewhere may be a circle.
    private static let deepest = 16

    private func ends(of packet: Packet, in chain: Name, depth: Int) -> Set<End> {
        guard depth <= Self.deepest else { return [.accept, .drop] }
        var found: Set<End> = []
        for rule in rules[chain] ?? [] {
            var isSure = true
            var hasFailed = false
            for part in rule {
                guard let (kind, body) = part.only else { continue }
                if kind == "match" {
                    switch matches(packet, body, in: chain) {
                    case true?: break
                    case false?: hasFailed = true
                    case nil: isSure = false
                    }
                } else if kind == "limit" || kind == "xt" {
                    isSure = false
                } else if let (ends, isReturn) = verdict(kind, body, packet, in: chain, depth: depth) {
                    if hasFailed { break }
                    // Returning leaves this chain, so nothing below is looked at either.
                    found.formUnion(isReturn ? ends : ends.subtracting([.goOn]))
                    if isSure, isReturn || !ends.contains(.goOn) { return found }
                }
                if hasFailed { break }
            }
            // An extension of iptables at the end is what that rule does, and may be to drop.
            if !hasFailed, rule.last?.only?.key == "xt" { found.insert(.drop) }
        }
        return found.union([.goOn])
    }

    /// What a statement does to the packet; `nil` when it only counts, logs or marks.
    private func verdict(
        _ kind: String, _ body: DoctorJSON, _ packet: Packet, in chain: Name, depth: Int
    ) -> (ends: Set<End>, isReturn: Bool)? {
        switch kind {
        case "accept": return ([.accept], false)
        case "drop", "reject": return ([.drop], false)
        case "return": return ([.goOn], true)
        case "jump", "goto":
            let target = Name(family: chain.family, table: chain.table, name: body["target"]?.text ?? "")
            return (ends(of: packet, in: target, depth: depth + 1), kind == "goto")
        case "vmap":
            var ends: Set<End> = [.goOn]
            for pair in body["data"]?["set"]?.items ?? [] {
                guard let items = pair.items, items.count == 2, let (kind, action) = items[1].only else { continue }
                let match = holds(packet, body["key"] ?? .null, items[0], in: chain)
                guard match != false, let found = verdict(kind, action, packet, in: chain, depth: depth)
                else { continue }
                if match == true { return found }
                ends.formUnion(found.ends)
            }
            return (ends, false)
        case "queue", "synproxy": return ([.accept, .drop], false)
        default: return nil
        }
    }

    /// Whether a comparison holds; `nil` when that cannot be told.
    private func matches(_ packet: Packet, _ match: DoctorJSON, in chain: Name) -> Bool? {
        let holds = holds(packet, match["left"] ?? .null, match["right"] ?? .null, in: chain)
        switch match["op"]?.text {
        case "==", "in": return holds
        case "!=":
            // A rule on UDP's port does not match a TCP packet, whatever it says of the port.
            guard applies(match["left"] ?? .null, to: packet) else { return false }
            return holds.map { !$0 }
        default: return nil
        }
    }

    /// Whether the packet has that field at all.
    private func applies(_ left: DoctorJSON, to packet: Packet) -> Bool {
        switch left["payload"]?["protocol"]?.text {
        case "udp", "tcp": left["payload"]?["protocol"]?.text == packet.transport
        case "icmp", "icmpv6", "igmp", "sctp", "dccp", "udplite", "esp", "ah", "comp", "arp": false
        case "ip": packet.isIPv4
        case "ip6": !packet.isIPv4
        default: true
        }
    }

    private func holds(_ packet: Packet, _ left: DoctorJSON, _ right: DoctorJSON, in chain: Name) -> Bool? {
        guard applies(left, to: packet) else { return false }
        guard let values = values(of: left, packet) else { return nil }
        return values.isEmpty ? false : contains(right, values, in: chain)
    }

    /// How the packet's field may be written; `nil` when it is not known, nothing when it is never so.
    private func values(of left: DoctorJSON, _ packet: Packet) -> [DoctorJSON]? {
        let transport: [DoctorJSON] = [.text(packet.transport), .number(packet.transport == "udp" ? 17 : 6)]
        if let field = left["payload"]?["field"]?.text {
            switch field {
            case "dport": return [.number(packet.port)]
            case "sport" where packet.isMulticast: return [.number(packet.port)]
            case "protocol", "nexthdr": return transport
            case "daddr" where packet.isMulticast: return [.text(packet.isIPv4 ? "224.0.0.251" : "ff02::fb")]
            default: return nil
            }
        }
        // A connection of others, or a packet to a group, that nothing has answered yet.
        if left["ct"]?["key"]?.text == "state" { return [.text("new")] }
        switch left["meta"]?["key"]?.text {
        case "l4proto": return transport
        case "nfproto": return [.text(packet.isIPv4 ? "ipv4" : "ipv6")]
        case "protocol": return [.text(packet.isIPv4 ? "ip" : "ip6")]
        case "pkttype" where packet.isIncoming: return [.text(packet.isMulticast ? "multicast" : "host")]
        case "iif", "iifname": return packet.isIncoming ? [.text(packet.interface)] : []
        case "oif", "oifname": return packet.isIncoming ? [] : [.text(packet.interface)]
        default: return nil
        }
    }

    private func contains(_ right: DoctorJSON, _ values: [DoctorJSON], in chain: Name) -> Bool? {
        if let name = right.text, name.hasPrefix("@") {
            guard let set = sets[Name(family: chain.family, table: chain.table, name: String(name.dropFirst()))]
            else { return nil }
            return contains(set, values, in: chain)
        }
        if let items = right["set"]?.items ?? right.items {
            let answers = items.map { contains($0, values, in: chain) }
            return answers.contains(true) ? true : answers.contains(nil) ? nil : false
        }
        if let element = right["elem"]?["val"] { return contains(element, values, in: chain) }
        if let ends = right["range"]?.items, ends.count == 2, let low = ends[0].number, let high = ends[1].number {
            return values.contains { $0.number.map { low <= $0 && $0 <= high } ?? false }
        }
        // All of multicast is 224.0.0.0/4 and ff00::/8 (RFC 5771, RFC 4291).
        if let prefix = right["prefix"], let address = prefix["addr"]?.text {
            guard ["224.0.0.0", "ff00::", "ff02::"].contains(address) else { return nil }
            return values.contains { $0.text?.hasPrefix(address == "224.0.0.0" ? "224.0.0." : "ff02:") ?? false }
        }
        guard right.text != nil || right.number != nil else { return nil }
        if let pattern = right.text, pattern.hasSuffix("*") {
            return values.contains { $0.text?.hasPrefix(pattern.dropLast()) ?? false }
        }
        return values.contains(right)
    }
}

internal import CAvahi
package import PeerModel

/// An interface of this machine with its addresses.
package struct LocalInterface: Hashable, Sendable {
    package let name: String
    package let isLoopback: Bool
    package let addresses: [PeerAddress.IP]

    package init(name: String, isLoopback: Bool, addresses: [PeerAddress.IP]) {
        self.name = name
        self.isLoopback = isLoopback
        self.addresses = addresses
    }
}

/// Avahi inside this process, for where no daemon runs.
///
/// Several of them may be on one machine, so each has a host name of its own, with the machine's addresses, and no reverse
/// records, over which they would fight.
final class EmbeddedBackend: AvahiBackend {
    /// For each interface: 2,000 peers with four records each.
    private static let cacheEntries: UInt32 = 16384

    private struct Place: Hashable {
        let interface: CInt
        let address: PeerAddress.IP
    }

    let name = "embedded"
    private(set) var objects = 0 { didSet { mostObjects = max(mostObjects, objects) } }
    private(set) var mostObjects = 0
    private var core: PCCore
    private let loop: PollLoop
    private let failed: (String) -> Void
    private var server: OpaquePointer?
    private let host: String
    private let allowed: Set<String>
    /// A group for each address, so that one that goes disturbs no other.
    private var addresses: [Place: AvahiObject] = [:]

    /// `host` has to be this run's own; `failed` is called when the server has ended.
    init(
        on loop: PollLoop, host: String, interfaces: [String], _ failed: @escaping (String) -> Void
    ) throws(AvahiError) {
        guard let core = AvahiCore.functions else { throw AvahiError(reason: "libavahi-core7 is not installed") }
        self.core = core
        self.loop = loop
        self.failed = failed
        self.host = host + ".local"
        self.allowed = Set(interfaces)
        let list = interfaces.reduce(nil as UnsafeMutablePointer<AvahiStringList>?) { avahi_string_list_add($0, $1) }
        defer { avahi_string_list_free(list) }
        var code: CInt = 0
        let made = pc_server_new(
            &self.core, loop.api, host, list, Self.cacheEntries,
            { server, state, context in
                guard state == AVAHI_SERVER_FAILURE, let context else { return }
                let reason = AvahiError(code: AvahiCore.failure(of: server)).reason
                Unmanaged<EmbeddedBackend>.fromOpaque(context).takeUnretainedValue().fail(reason)
            }, Unmanaged.passUnretained(self).toOpaque(), &code)  // freed in `close`, at the latest in `deinit`
        guard let made else { throw AvahiError(code: code) }
        server = made
    }

    deinit { close() }

    /// Later: a server may not be freed inside its callback.
    private func fail(_ reason: String) {
        loop.after(0) { [weak self] in
            guard let self, server != nil else { return }
            failed(reason)
        }
    }

    // MARK: The own host

    /// Tells the network these addresses, each on its interface; loopback ones only when there is nothing else.
    func setInterfaces(_ interfaces: [LocalInterface]) {
        let usable = interfaces.filter { (allowed.isEmpty || allowed.contains($0.name)) && !$0.addresses.isEmpty }
        let others = usable.filter { !$0.isLoopback }
        var places: Set<Place> = []
        for interface in others.isEmpty ? usable : others {
            let index = CInt(if_nametoindex(interface.name))
            guard index > 0 else { continue }
            for address in interface.addresses {
                var address = address
                if case .v6(let bytes, _) = address { address = .v6(bytes, scope: nil) }
                places.insert(Place(interface: index, address: address))
            }
        }
        for (place, group) in addresses where !places.contains(place) {
            group.free()
            addresses[place] = nil
        }
        for place in places where addresses[place] == nil {
            // One that fails is left out: the others still make the host reachable.
            addresses[place] = try? publish(place)
        }
    }

    private func publish(_ place: Place) throws(AvahiError) -> AvahiObject {
        let group = try newGroup { _ in }
        var address = AvahiAddress()
        let bytes: [UInt8]
        switch place.address {
        case .v4(let four): (address.proto, bytes) = (CInt(AVAHI_PROTO_INET), four)
        case .v6(let six, _): (address.proto, bytes) = (CInt(AVAHI_PROTO_INET6), six)
        }
        withUnsafeMutableBytes(of: &address.data) { $0.copyBytes(from: bytes.prefix($0.count)) }
        try AvahiError.check(
            core.avahi_server_add_address(
                server, group.pointer, place.interface, CInt(AVAHI_PROTO_UNSPEC), AVAHI_PUBLISH_NO_REVERSE, host,
                &address))
        try AvahiError.check(core.avahi_s_entry_group_commit(group.pointer))
        return group
    }

    // MARK: The calls of both libraries

    func browse(
        _ name: String, _ type: RecordType, at place: Sighting, _ report: @escaping (RecordEvent) -> Void
    ) throws(AvahiError) -> AvahiObject {
        let made = AvahiObject.browser(on: loop, report, release: freeing(core.avahi_s_record_browser_free)) {
            pc_s_record_browser_new(
                &core, server, place.interface, place.proto, name, type.rawValue,
                { _, interface, proto, event, record, _, context in
                    AvahiObject.at(context)?.tell(event, Sighting(interface, proto), EmbeddedBackend.bytes(of: record))
                }, $0)
        }
        return try counted(made)
    }

    func resolve(
        _ instance: String, at place: Sighting, _ report: @escaping (ResolvedService?) -> Void
    ) throws(AvahiError) -> AvahiObject {
        let made = AvahiObject.resolver(on: loop, report, release: freeing(core.avahi_s_service_resolver_free)) {
            core.avahi_s_service_resolver_new(
                server, place.interface, place.proto, instance, Advert.serviceType, "local",
                CInt(AVAHI_PROTO_UNSPEC), AVAHI_LOOKUP_USE_MULTICAST,
                { _, interface, _, event, _, _, _, _, address, port, txt, _, context in
                    AvahiObject.at(context)?.tell(ResolvedService(interface, event, address, port, txt))
                }, $0)
        }
        return try counted(made)
    }

    /// The data of a record as it is on the wire; nothing when it is longer than any that is meant for us.
    private static func bytes(of record: UnsafeMutablePointer<AvahiRecord>?) -> [UInt8] {
        guard let record, let core = AvahiCore.functions else { return [] }
        return [UInt8](unsafeUninitializedCapacity: 1024) { buffer, count in
            let size = core.avahi_rdata_serialize(record, buffer.baseAddress, buffer.count)
            count = size <= buffer.count ? size : 0  // the largest number when it does not fit
        }
    }

    func publish(
        _ service: PublishedService, _ report: @escaping (PublishedService.State) -> Void
    ) throws(AvahiError) -> AvahiObject {
        let group = try newGroup(report)
        try service.each { index, txt in
            core.avahi_server_add_service_strlst(
                server, group.pointer, index, CInt(AVAHI_PROTO_UNSPEC), AvahiPublishFlags(0), service.name,
                Advert.serviceType, nil, host, service.port, txt)
        }
        try AvahiError.check(core.avahi_s_entry_group_commit(group.pointer))
        return group
    }

    func update(_ group: AvahiObject, to service: PublishedService) throws(AvahiError) {
        try service.each { index, txt in
            core.avahi_server_update_service_txt_strlst(
                server, group.pointer, index, CInt(AVAHI_PROTO_UNSPEC), AvahiPublishFlags(0), service.name,
                Advert.serviceType, nil, txt)
        }
    }

    private func newGroup(_ report: @escaping (PublishedService.State) -> Void) throws(AvahiError) -> AvahiObject {
        let made = AvahiObject.group(on: loop, report, release: freeing(core.avahi_s_entry_group_free)) {
            core.avahi_s_entry_group_new(
                server,
                { server, _, state, context in
                    AvahiObject.at(context)?.tell(state, reason: AvahiError(code: AvahiCore.failure(of: server)).reason)
                }, $0)
        }
        return try counted(made)
    }

    private func counted(_ made: AvahiObject?) throws(AvahiError) -> AvahiObject {
        guard let made else { throw AvahiError(code: AvahiCore.failure(of: server)) }
        objects += 1
        return made
    }

    private func freeing(_ free: @escaping (OpaquePointer?) -> Void) -> (OpaquePointer) -> Void {
        { [weak self] pointer in
            guard let self, server != nil else { return }  // freed with the server
            objects -= 1
            free(pointer)
        }
    }

    /// Says goodbye for what was published and ends.
    func close() {
        guard let server else { return }
        self.server = nil
        objects = 0
        addresses = [:]
        core.avahi_server_free(server)
    }
}

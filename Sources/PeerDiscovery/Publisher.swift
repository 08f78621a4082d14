internal import CAvahi
internal import PeerModel

/// The own advert in the daemon's hands.
///
/// Touched only on Avahi's thread or under its lock.
final class Publisher {
    /// A name is only taken by a clone of this peer; counting up for ever would be an endless loop.
    private static let attempts = 5

    var advert: Advert?
    private let interfaces: [String]
    private let events: (DiscoveryEvent) -> Void
    private var client: OpaquePointer?
    private var group: OpaquePointer?
    private var name = ""
    private var attemptsLeft = Publisher.attempts

    init(interfaces: [String], events: @escaping (DiscoveryEvent) -> Void) {
        self.interfaces = interfaces
        self.events = events
    }

    /// Puts the advert on the network.
    func publish(_ client: OpaquePointer) {
        guard let advert else { return }
        forget(freeing: group != nil && self.client == client)
        self.client = client
        name = advert.instanceName
        attemptsLeft = Self.attempts
        group = avahi_entry_group_new(
            client,
            { _, state, userdata in
                guard let userdata else { return }
                Unmanaged<Publisher>.fromOpaque(userdata).takeUnretainedValue().changed(state)
            }, Unmanaged.passUnretained(self).toOpaque())  // the owner of both outlives the group
        register()
    }

    /// Of the interfaces it is limited to; all but point-to-point ones otherwise, which Avahi leaves out.
    private var indices: [CInt] {
        interfaces.isEmpty ? [CInt(AVAHI_IF_UNSPEC)] : interfaces.map { CInt(if_nametoindex($0)) }
    }

    private func register() {
        guard let group, let advert else { return }
        let txt = Self.list(advert)
        defer { avahi_string_list_free(txt) }
        var code: CInt = 0
        for index in indices {
            code = avahi_entry_group_add_service_strlst(
                group, index, CInt(AVAHI_PROTO_UNSPEC), AvahiPublishFlags(0), name, Advert.serviceType, nil, nil,
                advert.port, txt)
            if code != 0 { break }
        }
        if code == AVAHI_ERR_COLLISION { return collided() }
        if code == 0 { code = avahi_entry_group_commit(group) }
        if code != 0 { events(.down(reason: "the advert was not taken: \(DaemonDiscovery.text(code))")) }
    }

    private func changed(_ state: AvahiEntryGroupState) {
        switch state {
        case AVAHI_ENTRY_GROUP_ESTABLISHED: events(.published)
        case AVAHI_ENTRY_GROUP_COLLISION: collided()
        case AVAHI_ENTRY_GROUP_FAILURE: events(.down(reason: "the advert failed"))
        default: break
        }
    }

    /// Takes another instance name; the display name is in the record and stays.
    private func collided() {
        guard attemptsLeft > 0, let group else { return events(.down(reason: "the name on the network is taken")) }
        attemptsLeft -= 1
        if let next = avahi_alternative_service_name(name) {
            name = String(cString: next)
            avahi_free(next)
        }
        avahi_entry_group_reset(group)
        register()
    }

    /// Says something else from now on; a new port needs a new registration, anything else only a new record.
    func update(_ advert: Advert) {
        let old = self.advert
        self.advert = advert
        guard let group, old?.port == advert.port, old?.name == advert.name else {
            if let client { publish(client) }
            return
        }
        let txt = Self.list(advert)
        defer { avahi_string_list_free(txt) }
        for index in indices {
            avahi_entry_group_update_service_txt_strlst(
                group, index, CInt(AVAHI_PROTO_UNSPEC), AvahiPublishFlags(0), name, Advert.serviceType, nil, txt)
        }
    }

    /// Takes the advert back; the daemon says goodbye.
    func withdraw() { forget(freeing: true) }

    func forget(freeing: Bool) {
        if freeing, let group { avahi_entry_group_free(group) }
        group = nil
        if !freeing { client = nil }
    }

    private static func list(_ advert: Advert) -> UnsafeMutablePointer<AvahiStringList>? {
        // Avahi's lists are built from their end.
        TXTRecord.strings(of: advert).reversed().reduce(nil) { list, string in
            let bytes = Array(string.utf8.prefix(255))
            return avahi_string_list_add_arbitrary(list, bytes, bytes.count)
        }
    }
}

internal import CAvahi
internal import PeerModel

/// Finds instances of the service and keeps what each says.
///
/// Touched only on Avahi's thread or under its lock.
///
/// One browser for instances; for each one TXT record browser, which stays and tells of changes. Addresses come from short-lived
/// record browsers on the host, since a resolver gives only one of them.
final class ServiceBrowser {
    /// How many instances are looked up at a time; each takes three Avahi objects meanwhile.
    private static let lookups = 64

    private let interfaces: Set<String>
    private let report: (PeerChange) -> Void
    private var table: AdvertTable
    private var client: OpaquePointer?
    private var browser: OpaquePointer?
    private var instances: [String: ServiceInstance] = [:]
    private var waiting: [ServiceInstance] = []
    private var active = 0

    init(own: OwnRun, interfaces: Set<String>, report: @escaping (PeerChange) -> Void) {
        self.interfaces = interfaces
        self.report = report
        table = AdvertTable(own: own)
    }

    func start(_ client: OpaquePointer) {
        if browser != nil, self.client == client { return }
        self.client = client
        browser = avahi_service_browser_new(
            client, CInt(AVAHI_IF_UNSPEC), CInt(AVAHI_PROTO_UNSPEC), Advert.serviceType, nil, AvahiLookupFlags(0),
            { _, interface, proto, event, name, _, domain, _, userdata in
                guard let userdata, let name, let domain else { return }
                let browser = Unmanaged<ServiceBrowser>.fromOpaque(userdata).takeUnretainedValue()
                browser.saw(event, String(cString: name), String(cString: domain), Sighting(interface, proto))
            }, Unmanaged.passUnretained(self).toOpaque())  // the owner of both outlives the browser
    }

    private func saw(_ event: AvahiBrowserEvent, _ name: String, _ domain: String, _ sighting: Sighting) {
        guard interfaces.isEmpty || interfaces.contains(sighting.interfaceName) else { return }
        switch event {
        case AVAHI_BROWSER_NEW:
            guard let client else { return }
            let instance: ServiceInstance
            if let known = instances[name] {
                instance = known
            } else {
                guard instances.count < Limits.listedPeers else { return }
                instance = ServiceInstance(name: name, domain: domain, browser: self)
                instances[name] = instance
            }
            instance.sightings.insert(sighting)
            if !instance.isWatching { instance.watch(client) } else { lookUp(instance) }
        case AVAHI_BROWSER_REMOVE:
            guard let instance = instances[name] else { return }
            instance.sightings.remove(sighting)
            if instance.sightings.isEmpty { drop(instance) } else { lookUp(instance) }
        default: break
        }
    }

    private func drop(_ instance: ServiceInstance) {
        instances[instance.name] = nil
        waiting.removeAll { $0 === instance }
        if instance.isLookingUp { finished(instance) }
        instance.forget(freeing: true)
        for change in table.remove(instance.name) { report(change) }
    }

    /// What a daemon that went away had shown and its successor has not found again.
    func dropUnseen() {
        for instance in instances.values where instance.sightings.isEmpty { drop(instance) }
    }

    /// The objects are gone with their client, or are freed; what was found stays listed until it is missed.
    func forgetObjects(freeing: Bool) {
        if freeing, let browser { avahi_service_browser_free(browser) }
        browser = nil
        client = nil
        waiting = []
        active = 0
        for instance in instances.values {
            instance.forget(freeing: freeing)
            instance.sightings = []
        }
    }

    // MARK: Lookups

    /// Finds port and addresses, when it is this instance's turn.
    func lookUp(_ instance: ServiceInstance) {
        guard let client, !waiting.contains(where: { $0 === instance }) else { return }
        if instance.isLookingUp {
            instance.mustLookAgain = true
        } else if active < Self.lookups {
            active += 1
            instance.lookUp(client)
        } else {
            waiting.append(instance)
        }
    }

    func finished(_ instance: ServiceInstance) {
        active = max(0, active - 1)
        guard let client else { return }
        if instance.mustLookAgain {
            instance.mustLookAgain = false
            if instances[instance.name] === instance { waiting.append(instance) }
        }
        guard active < Self.lookups, !waiting.isEmpty else { return }
        active += 1
        waiting.removeFirst().lookUp(client)
    }

    func changed(_ instance: ServiceInstance) {
        guard instances[instance.name] === instance else { return }
        guard let advert = instance.advert else {
            for change in table.remove(instance.name) { report(change) }
            return
        }
        for change in table.set(instance.name, advert, instance.addresses) { report(change) }
    }
}

/// Where an instance was seen: an interface and an IP version.
struct Sighting: Hashable {
    let interface: CInt
    let proto: CInt

    init(_ interface: CInt, _ proto: CInt) {
        self.interface = interface
        self.proto = proto
    }

    var interfaceName: String {
        var name = [CChar](repeating: 0, count: 16)  // IF_NAMESIZE
        guard interface > 0, if_indextoname(UInt32(interface), &name) != nil else { return "" }
        return String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}

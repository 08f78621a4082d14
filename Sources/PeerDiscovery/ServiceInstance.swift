internal import CAvahi
internal import PeerModel

/// One instance of the service: its TXT record, which is watched, and where it is, which is looked up when something changed.
final class ServiceInstance {
    private static let classIN = UInt16(AVAHI_DNS_CLASS_IN)

    let name: String
    private let domain: String
    private unowned let browser: ServiceBrowser
    var sightings: Set<Sighting> = []
    private(set) var advert: Advert?
    private(set) var addresses: [PeerAddress] = []
    private var port: UInt16 = 0
    private var found: Set<PeerAddress.IP> = []
    private var watcher: OpaquePointer?
    private var resolver: OpaquePointer?
    private var addressBrowsers: [OpaquePointer] = []
    private(set) var isLookingUp = false
    var mustLookAgain = false

    init(name: String, domain: String, browser: ServiceBrowser) {
        self.name = name
        self.domain = domain
        self.browser = browser
    }

    private static func at(_ userdata: UnsafeMutableRawPointer?) -> ServiceInstance? {
        userdata.map { Unmanaged<ServiceInstance>.fromOpaque($0).takeUnretainedValue() }
    }

    /// For C: the browser keeps the instance as long as any of its objects exist.
    private var context: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

    var isWatching: Bool { watcher != nil }

    /// Follows the TXT record; the first answer starts the first lookup.
    func watch(_ client: OpaquePointer) {
        var full = [CChar](repeating: 0, count: 1014)  // AVAHI_DOMAIN_NAME_MAX
        guard avahi_service_name_join(&full, full.count, name, Advert.serviceType, domain) == 0 else { return }
        watcher = avahi_record_browser_new(
            client, CInt(AVAHI_IF_UNSPEC), CInt(AVAHI_PROTO_UNSPEC), full, Self.classIN, UInt16(AVAHI_DNS_TYPE_TXT),
            AvahiLookupFlags(0),
            { _, _, _, event, _, _, _, data, size, _, userdata in
                guard event == AVAHI_BROWSER_NEW, let data else { return }
                let bytes = Array(UnsafeRawBufferPointer(start: data, count: size))
                ServiceInstance.at(userdata)?.read(bytes)
            }, context)
    }

    private func read(_ record: [UInt8]) {
        let old = advert
        advert = TXTRecord.split(record).flatMap(TXTRecord.advert)
        let isMoved = old?.run != advert?.run || old?.revision != advert?.revision || addresses.isEmpty
        if isMoved, advert != nil { browser.lookUp(self) }
        browser.changed(self)
    }

    // MARK: Where it is

    func lookUp(_ client: OpaquePointer) {
        isLookingUp = true
        found = []
        resolver = avahi_service_resolver_new(
            client, CInt(AVAHI_IF_UNSPEC), CInt(AVAHI_PROTO_UNSPEC), name, Advert.serviceType, domain,
            CInt(AVAHI_PROTO_UNSPEC), AVAHI_LOOKUP_NO_TXT,
            { resolver, _, _, event, _, _, _, host, _, port, _, _, userdata in
                guard let instance = ServiceInstance.at(userdata) else { return }
                avahi_service_resolver_free(resolver)
                instance.resolver = nil
                guard event == AVAHI_RESOLVER_FOUND, let host else { return instance.finish() }
                instance.port = port
                instance.browseAddresses(avahi_service_resolver_get_client(resolver), of: String(cString: host))
            }, context)
        if resolver == nil { finish() }
        self.client = client
    }
    private var client: OpaquePointer?

    private func browseAddresses(_ unused: OpaquePointer?, of host: String) {
        guard let client else { return finish() }
        for type in [AVAHI_DNS_TYPE_A, AVAHI_DNS_TYPE_AAAA] {
            let made = avahi_record_browser_new(
                client, CInt(AVAHI_IF_UNSPEC), CInt(AVAHI_PROTO_UNSPEC), host, Self.classIN, UInt16(type),
                AvahiLookupFlags(0),
                { browser, interface, proto, event, _, _, _, data, size, _, userdata in
                    guard let instance = ServiceInstance.at(userdata), let browser else { return }
                    switch event {
                    case AVAHI_BROWSER_NEW:
                        guard let data else { return }
                        let bytes = Array(UnsafeRawBufferPointer(start: data, count: size))
                        instance.saw(bytes, Sighting(interface, proto))
                    case AVAHI_BROWSER_ALL_FOR_NOW, AVAHI_BROWSER_FAILURE: instance.ended(browser)
                    default: break
                    }
                }, context)
            if let made { addressBrowsers.append(made) }
        }
        if addressBrowsers.isEmpty { finish() }
    }

    private func saw(_ bytes: [UInt8], _ sighting: Sighting) {
        switch bytes.count {
        case 4: found.insert(.v4(bytes))
        case 16:
            let address = PeerAddress(.v6(bytes, scope: nil), port: 0)
            // Valid only on the link it was heard on.
            found.insert(.v6(bytes, scope: address.isLinkLocal ? sighting.interfaceName : nil))
        default: break
        }
    }

    private func ended(_ browser: OpaquePointer) {
        addressBrowsers.removeAll { $0 == browser }
        avahi_record_browser_free(browser)
        if addressBrowsers.isEmpty { finish() }
    }

    private func finish() {
        isLookingUp = false
        if !found.isEmpty { addresses = found.map { PeerAddress($0, port: port) } }
        browser.changed(self)
        browser.finished(self)
    }

    /// Lets go of all Avahi objects; they are freed here unless their client's end has done that.
    func forget(freeing: Bool) {
        if freeing {
            if let watcher { avahi_record_browser_free(watcher) }
            if let resolver { avahi_service_resolver_free(resolver) }
            for browser in addressBrowsers { avahi_record_browser_free(browser) }
        }
        watcher = nil
        resolver = nil
        addressBrowsers = []
        isLookingUp = false
        mustLookAgain = false
        client = nil
    }
}

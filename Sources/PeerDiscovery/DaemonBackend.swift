internal import CAvahi

/// Avahi by way of avahi-daemon and D-Bus.
final class DaemonBackend: AvahiBackend {
    /// How it is with the daemon.
    enum State {
        case running
        /// It settles the name of the host first.
        case busy
        case absent
        case failed(String)
    }

    let name = "daemon"
    private(set) var objects = 0 { didSet { mostObjects = max(mostObjects, objects) } }
    private(set) var mostObjects = 0
    private let loop: PollLoop
    private let changed: (State) -> Void
    private var client: OpaquePointer?

    /// Connects to D-Bus and waits for the daemon if there is none; the state is told from then on.
    init(on loop: PollLoop, _ changed: @escaping (State) -> Void) throws(AvahiError) {
        self.loop = loop
        self.changed = changed
        var code: CInt = 0
        let made = avahi_client_new(
            loop.api, AVAHI_CLIENT_NO_FAIL,
            { client, state, context in
                guard let context, let client else { return }
                let backend = Unmanaged<DaemonBackend>.fromOpaque(context).takeUnretainedValue()
                backend.tell(state, code: avahi_client_errno(client))
            }, Unmanaged.passUnretained(self).toOpaque(), &code)  // freed in `close`, at the latest in `deinit`
        guard let made else { throw AvahiError(code: code) }
        client = made
    }

    deinit { close() }

    /// Later, since the first call comes inside `avahi_client_new`, and a client may not be freed inside its callback.
    private func tell(_ state: AvahiClientState, code: CInt) {
        let told: State
        switch state {
        case AVAHI_CLIENT_S_RUNNING: told = .running
        case AVAHI_CLIENT_S_REGISTERING, AVAHI_CLIENT_S_COLLISION: told = .busy
        case AVAHI_CLIENT_CONNECTING: told = .absent
        case AVAHI_CLIENT_FAILURE:
            told = .failed(code == AVAHI_ERR_DISCONNECTED ? "avahi-daemon went away" : AvahiError(code: code).reason)
        default: return
        }
        loop.after(0) { [weak self] in
            guard let self, client != nil else { return }
            changed(told)
        }
    }

    func browse(
        _ name: String, _ type: RecordType, at place: Sighting, _ report: @escaping (RecordEvent) -> Void
    ) throws(AvahiError) -> AvahiObject {
        let made = AvahiObject.browser(on: loop, report, release: freeing { avahi_record_browser_free($0) }) {
            avahi_record_browser_new(
                client, place.interface, place.proto, name, UInt16(AVAHI_DNS_CLASS_IN),
                type.rawValue, AVAHI_LOOKUP_USE_MULTICAST,
                { _, interface, proto, event, _, _, _, data, size, _, context in
                    let bytes = UnsafeRawBufferPointer(start: data, count: data == nil ? 0 : size)
                    AvahiObject.at(context)?.tell(event, Sighting(interface, proto), Array(bytes))
                }, $0)
        }
        return try counted(made)
    }

    func resolve(
        _ instance: String, at place: Sighting, _ report: @escaping (ResolvedService?) -> Void
    ) throws(AvahiError) -> AvahiObject {
        let made = AvahiObject.resolver(on: loop, report, release: freeing { avahi_service_resolver_free($0) }) {
            avahi_service_resolver_new(
                client, place.interface, place.proto, instance, Advert.serviceType, "local",
                CInt(AVAHI_PROTO_UNSPEC), AVAHI_LOOKUP_USE_MULTICAST,
                { _, interface, _, event, _, _, _, _, address, port, txt, _, context in
                    AvahiObject.at(context)?.tell(ResolvedService(interface, event, address, port, txt))
                }, $0)
        }
        return try counted(made)
    }

    func publish(
        _ service: PublishedService, _ report: @escaping (PublishedService.State) -> Void
    ) throws(AvahiError) -> AvahiObject {
        let made = AvahiObject.group(on: loop, report, release: freeing { avahi_entry_group_free($0) }) {
            avahi_entry_group_new(
                client,
                { group, state, context in
                    let code = avahi_client_errno(avahi_entry_group_get_client(group))
                    AvahiObject.at(context)?.tell(state, reason: AvahiError(code: code).reason)
                }, $0)
        }
        let group = try counted(made)
        try service.each { index, txt in
            noted(
                avahi_entry_group_add_service_strlst(
                    group.pointer, index, CInt(AVAHI_PROTO_UNSPEC), AvahiPublishFlags(0), service.name,
                    Advert.serviceType, nil, nil, service.port, txt))
        }
        try AvahiError.check(noted(avahi_entry_group_commit(group.pointer)))
        return group
    }

    func update(_ group: AvahiObject, to service: PublishedService) throws(AvahiError) {
        try service.each { index, txt in
            noted(
                avahi_entry_group_update_service_txt_strlst(
                    group.pointer, index, CInt(AVAHI_PROTO_UNSPEC), AvahiPublishFlags(0), service.name,
                    Advert.serviceType, nil, txt))
        }
    }

    /// A call's code; when D-Bus went away under the call that is told, like any end of the daemon.
    ///
    /// The library itself does not notice then: the call that waited has taken the news, and the socket is closed.
    @discardableResult
    private func noted(_ code: CInt) -> CInt {
        if code == AVAHI_ERR_DISCONNECTED { tell(AVAHI_CLIENT_FAILURE, code: code) }
        return code
    }

    private func counted(_ made: AvahiObject?) throws(AvahiError) -> AvahiObject {
        guard let made else {
            throw AvahiError(code: noted(client.map { avahi_client_errno($0) } ?? CInt(AVAHI_ERR_BAD_STATE)))
        }
        objects += 1
        return made
    }

    private func freeing(_ free: @escaping (OpaquePointer) -> CInt) -> (OpaquePointer) -> Void {
        { [weak self] pointer in
            guard let self, client != nil else { return }  // freed with the client
            objects -= 1
            noted(free(pointer))
        }
    }

    /// Leaves D-Bus, without a call that could block; the daemon then says goodbye for what was published.
    func close() {
        guard let client else { return }
        self.client = nil
        objects = 0
        avahi_client_free(client)
    }
}

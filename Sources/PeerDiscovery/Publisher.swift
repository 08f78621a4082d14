internal import CAvahi
internal import PeerModel

/// The own advert on the network.
final class Publisher {
    /// A name is only taken by a clone of this peer; counting up for ever would be an endless loop.
    private static let attempts = 5
    /// After a failure, and after all names were taken.
    private static let retries = [1.0, 2, 4, 8, 10]
    /// How long the old name stays beside the new one, in seconds, so that others have asked about that before they miss the old.
    private static let overlap = 1.0

    /// What it tells.
    enum Report {
        case published
        /// It is tried again.
        case failed(String)
    }

    private let loop: PollLoop
    private let interfaces: [String]
    private let report: (Report) -> Void
    private var backend: (any AvahiBackend)?
    private var advert: Advert?
    private var group: AvahiObject?
    private var isEstablished = false
    /// What was published under the name before, until the new one is: for others it is one peer that changes, not one that goes.
    private var former: (group: AvahiObject, name: String)?
    private var farewell: PollLoop.Timer?
    private var name = ""
    private var indices: [CInt] = []
    private var attemptsLeft = Publisher.attempts
    private var failures = 0
    private var retry: PollLoop.Timer?

    init(interfaces: [String], on loop: PollLoop, report: @escaping (Report) -> Void) {
        self.interfaces = interfaces
        self.loop = loop
        self.report = report
    }

    /// Publishes by way of this back end from now on.
    func attach(_ backend: any AvahiBackend) {
        guard self.backend !== backend else { return }
        detach()
        self.backend = backend
        publish()
    }

    /// Takes the advert back.
    func detach() {
        forget()
        forgetFormer()
        (backend, failures) = (nil, 0)
    }

    private func forget() {
        retry?.cancel()
        group?.free()
        (retry, group, isEstablished) = (nil, nil, false)
    }

    private func forgetFormer() {
        farewell?.cancel()
        former?.group.free()
        (farewell, former) = (nil, nil)
    }

    /// Says this from now on; another name or port needs a new registration, anything else only a new record.
    func set(_ advert: Advert) {
        let old = self.advert
        self.advert = advert
        guard let backend, old != advert else { return }
        guard let group, old?.port == advert.port else { return publish() }
        guard old?.name == advert.name else { return rename(group) }
        do { try backend.update(group, to: service(advert)) } catch { fail(error.reason) }
    }

    /// An interface it is limited to may have come back with another number.
    func interfacesChanged() {
        guard group != nil, !interfaces.isEmpty, PublishedService.indices(of: interfaces) != indices else { return }
        publish()
    }

    private func service(_ advert: Advert) -> PublishedService {
        PublishedService(
            name: name, port: advert.port, txt: TXTRecord.strings(of: advert), interfaces: interfaces)
    }

    private func rename(_ old: AvahiObject) {
        if isEstablished {
            forgetFormer()
            former = (old, name)
            group = nil
        }
        publish()
    }

    private func publish() {
        guard let advert, backend != nil else { return }
        name = advert.instanceName
        attemptsLeft = Self.attempts
        register()
    }

    private func register() {
        forget()
        if former?.name == name { forgetFormer() }
        guard let backend, let advert else { return }
        indices = PublishedService.indices(of: interfaces)
        do {
            // What becomes of the former one while it stays says nothing of this.
            group = try backend.publish(service(advert)) { [weak self, name] in
                if let self, name == self.name { changed($0) }
            }
        } catch {
            if error.isCollision { collided() } else { fail(error.reason) }
        }
    }

    private func changed(_ state: PublishedService.State) {
        switch state {
        case .established:
            (failures, isEstablished) = (0, true)
            if former != nil { farewell = loop.after(Self.overlap) { [weak self] in self?.forgetFormer() } }
            report(.published)
        case .collision: collided()
        case .failed(let reason): fail(reason)
        }
    }

    /// Takes another instance name; the display name is in the record and stays.
    private func collided() {
        guard attemptsLeft > 0, let next = avahi_alternative_service_name(name) else {
            return fail("the name on the network is taken")
        }
        attemptsLeft -= 1
        DiscoveryLog.write("the name \(name) is taken on the network")
        name = String(cString: next)
        avahi_free(next)
        register()
    }

    private func fail(_ reason: String) {
        forget()
        if failures == 0 { report(.failed("the advert was not taken (\(reason))")) }
        let time = Self.retries[min(failures, Self.retries.count - 1)]
        failures += 1
        retry = loop.after(time) { [weak self] in self?.publish() }
    }
}

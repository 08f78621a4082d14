import CAvahi
import PeerModel

@testable import PeerDiscovery

/// A network in memory.
///
/// For one thread.
final class FakeBackend: AvahiBackend {
    private struct Key: Hashable {
        let name: String
        let type: RecordType
    }

    let name = "fake"
    let loop: PollLoop
    private(set) var objects = 0
    private(set) var mostObjects = 0
    /// What was asked, by type.
    private(set) var asked: [RecordType: Int] = [:]
    /// How many instances were asked about as a whole.
    private(set) var resolved = 0
    private(set) var published: [PublishedService] = []
    private(set) var updated: [PublishedService] = []
    /// Names that somebody has already.
    var taken: Set<String> = []
    /// Makes every call fail while it is set.
    var refusal: String?
    /// How long it takes until all have answered; Avahi takes a second.
    var settling = 0.02
    /// How long it takes to make an object or to free it, in seconds; a busy daemon takes milliseconds.
    var callTime = 0.0
    private var records: [Key: [[UInt8]]] = [:]
    private var browsers: [Key: [(object: Weak, report: (RecordEvent) -> Void)]] = [:]
    private let sighting = Sighting(1, 0)

    private struct Weak { weak var object: AvahiObject? }

    init(on loop: PollLoop) { self.loop = loop }

    // MARK: What is on the network

    func add(_ name: String, _ type: RecordType, _ bytes: [UInt8]) {
        records[Key(name: name, type: type), default: []].append(bytes)
        tell(Key(name: name, type: type), .found(bytes, sighting))
    }

    func remove(_ name: String, _ type: RecordType, _ bytes: [UInt8]) {
        records[Key(name: name, type: type)]?.removeAll { $0 == bytes }
        tell(Key(name: name, type: type), .gone(bytes, sighting))
    }

    func fail(_ name: String, _ type: RecordType) { tell(Key(name: name, type: type), .failed) }

    private func tell(_ key: Key, _ event: RecordEvent) {
        for (weak, report) in browsers[key] ?? [] where weak.object?.pointer != nil { report(event) }
    }

    /// A peer with all its records.
    func appear(_ label: String, _ advert: Advert, host: String, _ address: [UInt8]) {
        let name = Self.fullName(label)
        add(name, .text, Self.text(advert))
        add(
            name, .service,
            [0, 0, 0, 0] + [UInt8(advert.port >> 8), UInt8(advert.port & 0xFF)] + Self.wire([host, "local"]))
        add(host + ".local", .ipv4, address)
        add(Advert.serviceType + ".local", .pointer, Self.pointer(label))
    }

    /// Its goodbye.
    func disappear(_ label: String, host: String) {
        for type in [RecordType.text, .service] { records[Key(name: Self.fullName(label), type: type)] = nil }
        records[Key(name: host + ".local", type: .ipv4)] = nil
        remove(Advert.serviceType + ".local", .pointer, Self.pointer(label))
    }

    static func fullName(_ label: String) -> String {
        DNSName.text([Array(label.utf8)]) + "." + Advert.serviceType + ".local"
    }

    static func pointer(_ label: String) -> [UInt8] { wire([label, "_peerconnect", "_tcp", "local"]) }

    static func wire(_ labels: [String]) -> [UInt8] {
        labels.flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) } + [0]
    }

    static func text(_ advert: Advert) -> [UInt8] {
        TXTRecord.strings(of: advert).flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) }
    }

    /// What Avahi would be given, copied from C.
    static func strings(of list: UnsafeMutablePointer<AvahiStringList>?) -> [[UInt8]] {
        ResolvedService(1, AVAHI_RESOLVER_FOUND, nil, 0, list)?.txt ?? []
    }

    // MARK: The calls

    func browse(
        _ name: String, _ type: RecordType, at place: Sighting, _ report: @escaping (RecordEvent) -> Void
    ) throws(AvahiError) -> AvahiObject {
        asked[type, default: 0] += 1
        let object = try counted(AvahiObject.browser(on: loop, report, release: release, make: make))
        let key = Key(name: name, type: type)
        browsers[key, default: []].removeAll { $0.object.object?.pointer == nil }
        browsers[key, default: []].append((Weak(object: object), report))
        let events = (records[key] ?? []).map { RecordEvent.found($0, sighting) } + [.known]
        loop.after(0) { [weak object] in
            for event in events where object?.pointer != nil { report(event) }
        }
        loop.after(settling) { [weak object] in if object?.pointer != nil { report(.settled) } }
        return object
    }

    func resolve(
        _ instance: String, at place: Sighting, _ report: @escaping (ResolvedService?) -> Void
    ) throws(AvahiError) -> AvahiObject {
        resolved += 1
        let object = try counted(AvahiObject.resolver(on: loop, report, release: release, make: make))
        let name = Self.fullName(instance)
        guard let text = records[Key(name: name, type: .text)]?.last.flatMap(TXTRecord.split),
            let service = records[Key(name: name, type: .service)]?.last.flatMap(ServiceRecord.init),
            let address = records[Key(name: service.host, type: .ipv4)]?.first
        else { return object }
        let answer = ResolvedService(address: PeerAddress(.v4(address), port: service.port), txt: text)
        loop.after(0) { [weak object] in if object?.pointer != nil { report(answer) } }
        return object
    }

    func publish(
        _ service: PublishedService, _ report: @escaping (PublishedService.State) -> Void
    ) throws(AvahiError) -> AvahiObject {
        try service.each { _, _ in 0 }
        let object = try counted(AvahiObject.group(on: loop, report, release: release, make: make))
        published.append(service)
        let state: PublishedService.State = taken.contains(service.name) ? .collision : .established
        loop.after(0) { [weak object] in if object?.pointer != nil { report(state) } }
        return object
    }

    func update(_ object: AvahiObject, to service: PublishedService) throws(AvahiError) {
        if let refusal { throw AvahiError(reason: refusal) }
        try service.each { _, _ in 0 }
        updated.append(service)
    }

    func close() { objects = 0 }

    private func make(_ context: UnsafeMutableRawPointer) -> OpaquePointer? {
        block(callTime)
        return OpaquePointer(context)
    }

    private func release(_ pointer: OpaquePointer) {
        block(callTime)
        objects -= 1
    }

    private func counted(_ object: AvahiObject?) throws(AvahiError) -> AvahiObject {
        objects += 1
        guard let object, refusal == nil else { throw AvahiError(reason: refusal ?? "out of memory") }
        mostObjects = max(mostObjects, objects)
        return object
    }
}

/// Runs it on a thread like discovery's own, which may block.
func onThread(_ body: @escaping @Sendable () throws -> Void) async throws {
    try await withCheckedThrowingContinuation { (done: CheckedContinuation<Void, any Error>) in
        let isStarted = DiscoveryThread.start { done.resume(with: Result { try body() }) }
        if !isStarted { done.resume(throwing: AvahiError(reason: "no thread")) }
    }
}

extension PollLoop {
    /// Runs until something is so, which it is given back; not longer than so many seconds.
    func run(within seconds: Double = 10, until isSo: () -> Bool) -> Bool {
        let clock = ContinuousClock(), limit = clock.now + .seconds(seconds)
        while !isSo() {
            guard clock.now < limit else { return false }
            turn(milliseconds: 5)
        }
        return true
    }

    /// Runs for so many seconds.
    func pass(_ seconds: Double) { _ = run(within: seconds) { false } }
}

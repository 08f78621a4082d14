internal import CAvahi
internal import PeerModel

/// One of Avahi's two libraries, behind the few calls that are needed of both.
///
/// For one thread; nothing is called before the call that asked for it has returned.
protocol AvahiBackend: AnyObject {
    /// What events call it.
    var name: String { get }
    /// How many objects it keeps inside Avahi.
    var objects: Int { get }
    /// How many it has kept there at the same time.
    var mostObjects: Int { get }
    /// Follows the records of a name that are to be seen there.
    func browse(
        _ name: String, _ type: RecordType, at place: Sighting, _ report: @escaping (RecordEvent) -> Void
    ) throws(AvahiError) -> AvahiObject
    /// Asks there once for all records of an instance and one of its addresses; `nil` when that failed.
    func resolve(
        _ instance: String, at place: Sighting, _ report: @escaping (ResolvedService?) -> Void
    ) throws(AvahiError) -> AvahiObject
    /// Puts a service on the network.
    func publish(
        _ service: PublishedService, _ report: @escaping (PublishedService.State) -> Void
    ) throws(AvahiError) -> AvahiObject
    /// Gives a published service another TXT record.
    func update(_ object: AvahiObject, to service: PublishedService) throws(AvahiError)
    /// Ends; all objects are gone then, and the network is told.
    func close()
}

/// A type of record (RFC 1035, section 3.2.2, and RFC 2782).
enum RecordType: UInt16 {
    case ipv4 = 1
    case pointer = 12
    case text = 16
    case ipv6 = 28
    case service = 33
}

/// What following a name tells.
enum RecordEvent {
    case found([UInt8], Sighting)
    case gone([UInt8], Sighting)
    /// All that was known already has been told.
    case known
    /// All that is on the network should have answered.
    case settled
    case failed
}

/// Where something was seen: an interface and an IP version.
struct Sighting: Hashable {
    static let anywhere = Sighting(CInt(AVAHI_IF_UNSPEC), CInt(AVAHI_PROTO_UNSPEC))

    let interface: CInt
    let proto: CInt

    /// The same interface by either IP version.
    var byAnyProtocol: Sighting { Sighting(interface, CInt(AVAHI_PROTO_UNSPEC)) }

    /// Which of several is asked about one address, to be shown first: IPv4, and not loopback, which has number 1 on Linux.
    var rank: (CInt, CInt, CInt) { (proto, interface == 1 ? 1 : 0, interface) }

    init(_ interface: CInt, _ proto: CInt) {
        self.interface = interface
        self.proto = proto
    }

    /// A link-local address is valid only on the link it was heard on.
    func ip(v6 bytes: [UInt8]) -> PeerAddress.IP {
        let isLinkLocal = PeerAddress(.v6(bytes, scope: nil), port: 0).isLinkLocal
        return .v6(bytes, scope: isLinkLocal ? interfaceName : nil)
    }

    var interfaceName: String {
        var name = [CChar](repeating: 0, count: 16)  // IF_NAMESIZE
        guard interface > 0, if_indextoname(UInt32(interface), &name) != nil else { return "" }
        return String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}

/// What one question about an instance gave.
struct ResolvedService {
    let address: PeerAddress?
    let txt: [[UInt8]]
}

extension ResolvedService {
    /// Copied from what Avahi shows for the length of a call.
    init?(
        _ interface: CInt, _ event: AvahiResolverEvent, _ address: UnsafePointer<AvahiAddress>?, _ port: UInt16,
        _ txt: UnsafeMutablePointer<AvahiStringList>?
    ) {
        guard event == AVAHI_RESOLVER_FOUND else { return nil }
        var strings: [[UInt8]] = []
        var next = txt
        while let string = next, strings.count < TXTRecord.stringsAtMost {
            let bytes = avahi_string_list_get_text(string)
            strings.append(Array(UnsafeBufferPointer(start: bytes, count: avahi_string_list_get_size(string))))
            next = avahi_string_list_get_next(string)
        }
        guard let address = address?.pointee, port > 0 else {
            self.init(address: nil, txt: strings)
            return
        }
        let bytes = withUnsafeBytes(of: address.data) { Array($0) }
        let ip: PeerAddress.IP =
            if address.proto == AVAHI_PROTO_INET {
                .v4(Array(bytes.prefix(4)))
            } else {
                Sighting(interface, address.proto).ip(v6: bytes)
            }
        self.init(address: PeerAddress(ip, port: port), txt: strings)
    }
}

/// A service of the own host, as Avahi takes it.
struct PublishedService {
    enum State {
        case established, collision
        case failed(String)
    }

    let name: String
    let port: UInt16
    let txt: [String]
    /// Only on these; empty means all.
    let interfaces: [String]

    /// Their numbers, of those that are there.
    static func indices(of interfaces: [String]) -> [CInt] {
        interfaces.map { CInt(if_nametoindex($0)) }.filter { $0 > 0 }
    }

    /// Runs `body` for each interface with the record as a list of C's.
    func each(_ body: (CInt, UnsafeMutablePointer<AvahiStringList>?) -> CInt) throws(AvahiError) {
        try TXTRecord.check(txt)
        // Avahi's lists are built from their end.
        let list = txt.reversed().reduce(nil as UnsafeMutablePointer<AvahiStringList>?) { list, string in
            let bytes = Array(string.utf8)
            return avahi_string_list_add_arbitrary(list, bytes, bytes.count)
        }
        defer { avahi_string_list_free(list) }
        let indices = Self.indices(of: interfaces)
        if indices.isEmpty, !interfaces.isEmpty {
            throw AvahiError(reason: "there is no interface \(interfaces.joined(separator: ", "))")
        }
        for index in interfaces.isEmpty ? [CInt(AVAHI_IF_UNSPEC)] : indices { try AvahiError.check(body(index, list)) }
    }
}

/// Why a call of Avahi's failed.
struct AvahiError: Error {
    let reason: String
    var isCollision = false
    /// Nobody is there to be asked: the daemon, or D-Bus when that was to be connected to.
    var isMissing = false

    init(reason: String) { self.reason = reason }

    init(code: CInt) {
        reason = avahi_strerror(code).map { String(cString: $0) } ?? "error \(code)"
        isCollision = code == AVAHI_ERR_COLLISION
        isMissing = code == AVAHI_ERR_NO_DAEMON
    }

    static func check(_ code: CInt) throws(AvahiError) { if code < 0 { throw AvahiError(code: code) } }
}

/// One object inside Avahi and who is told of its events; `free` ends both.
final class AvahiObject {
    private enum Report {
        case records((RecordEvent) -> Void)
        case service((ResolvedService?) -> Void)
        case states((PublishedService.State) -> Void)
    }

    private(set) var pointer: OpaquePointer?
    private let loop: PollLoop
    private let report: Report
    private let release: (OpaquePointer) -> Void

    private init(_ loop: PollLoop, _ report: Report, _ release: @escaping (OpaquePointer) -> Void) {
        self.loop = loop
        self.report = report
        self.release = release
    }

    /// Made by `make`, whose argument is for C; `release` frees it, unless its library has done so already.
    static func browser(
        on loop: PollLoop, _ report: @escaping (RecordEvent) -> Void, release: @escaping (OpaquePointer) -> Void,
        make: (UnsafeMutableRawPointer) -> OpaquePointer?
    ) -> AvahiObject? {
        AvahiObject(loop, .records(report), release).made(by: make)
    }

    /// The same for a question about one instance.
    static func resolver(
        on loop: PollLoop, _ report: @escaping (ResolvedService?) -> Void, release: @escaping (OpaquePointer) -> Void,
        make: (UnsafeMutableRawPointer) -> OpaquePointer?
    ) -> AvahiObject? {
        AvahiObject(loop, .service(report), release).made(by: make)
    }

    /// The same for a group of published records.
    static func group(
        on loop: PollLoop, _ report: @escaping (PublishedService.State) -> Void,
        release: @escaping (OpaquePointer) -> Void, make: (UnsafeMutableRawPointer) -> OpaquePointer?
    ) -> AvahiObject? {
        AvahiObject(loop, .states(report), release).made(by: make)
    }

    // C's reference is unretained: the C object is freed before this one goes.
    private func made(by make: (UnsafeMutableRawPointer) -> OpaquePointer?) -> AvahiObject? {
        pointer = loop.call { make(Unmanaged.passUnretained(self).toOpaque()) }
        return pointer == nil ? nil : self
    }

    deinit { free() }

    func free() {
        guard let pointer else { return }
        self.pointer = nil
        loop.call { release(pointer) }
    }

    // MARK: For callbacks of C

    static func at(_ context: UnsafeMutableRawPointer?) -> AvahiObject? {
        context.map { Unmanaged<AvahiObject>.fromOpaque($0).takeUnretainedValue() }
    }

    func tell(_ event: AvahiBrowserEvent, _ sighting: Sighting, _ bytes: @autoclosure () -> [UInt8]) {
        guard pointer != nil, case .records(let report) = report else { return }
        switch event {
        case AVAHI_BROWSER_NEW: report(.found(bytes(), sighting))
        case AVAHI_BROWSER_REMOVE: report(.gone(bytes(), sighting))
        case AVAHI_BROWSER_CACHE_EXHAUSTED: report(.known)
        case AVAHI_BROWSER_ALL_FOR_NOW: report(.settled)
        case AVAHI_BROWSER_FAILURE: report(.failed)
        default: break
        }
    }

    func tell(_ service: ResolvedService?) {
        guard pointer != nil, case .service(let report) = report else { return }
        report(service)
    }

    /// Later, since a group may not be freed or filled inside its own callback.
    func tell(_ state: AvahiEntryGroupState, reason: @autoclosure () -> String) {
        let told: PublishedService.State
        switch state {
        case AVAHI_ENTRY_GROUP_ESTABLISHED: told = .established
        case AVAHI_ENTRY_GROUP_COLLISION: told = .collision
        case AVAHI_ENTRY_GROUP_FAILURE: told = .failed(reason())
        default: return
        }
        loop.after(0) { [weak self] in
            guard let self, pointer != nil, case .states(let report) = report else { return }
            report(told)
        }
    }
}

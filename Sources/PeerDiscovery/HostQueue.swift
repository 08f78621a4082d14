/// Newcomers whose host is known: the hosts take turns, the newest every other one, and one with many instances has few of them
/// asked about at a time.
struct HostQueue {
    private static let perHost = 8

    private var waiting: [String: [ServiceInstance]] = [:]
    /// Hosts in `waiting`, the one that has waited longest first.
    private var order: [String] = []
    private var isNewestsTurn = false
    private var taken: [String: Int] = [:]
    /// How many are being asked about.
    private(set) var asked = 0

    mutating func add(_ instance: ServiceInstance, on host: String) {
        if waiting[host] == nil { order.append(host) }
        waiting[host, default: []].append(instance)
    }

    /// The next one, which takes a place on its host.
    mutating func next() -> (ServiceInstance, host: String)? {
        let hasPlace = { [taken] (host: String) in taken[host, default: 0] < Self.perHost }
        isNewestsTurn.toggle()
        let found = isNewestsTurn ? order.lastIndex(where: hasPlace) : order.firstIndex(where: hasPlace)
        guard let index = found else { return nil }
        let host = order.remove(at: index)
        guard var list = waiting.removeValue(forKey: host), !list.isEmpty else { return nil }
        let instance = list.removeFirst()
        if !list.isEmpty {
            waiting[host] = list
            order.append(host)
        }
        taken[host, default: 0] += 1
        asked += 1
        return (instance, host)
    }

    /// Gives a place back.
    mutating func leave(_ host: String) {
        guard let before = taken[host] else { return }
        asked -= 1
        let count = before - 1
        taken[host] = count > 0 ? count : nil
    }

    mutating func remove(_ instance: ServiceInstance) {
        for (host, list) in waiting where list.contains(where: { $0 === instance }) {
            let left = list.filter { $0 !== instance }
            waiting[host] = left.isEmpty ? nil : left
            if left.isEmpty { order.removeAll { $0 == host } }
        }
    }
}

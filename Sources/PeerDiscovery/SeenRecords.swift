/// The records of one name that are on the network: there is more than one while a change settles.
///
/// A record that was replaced lives on for a second (RFC 6762, section 10.2). One that comes back within that time is not told
/// again; that its successor goes is all there is to see.
struct SeenRecords {
    /// More is no change that settles.
    private static let atMost = 8

    private var records: [(bytes: [UInt8], sightings: Set<Sighting>)] = []

    /// Those that are there, in the order they came.
    var all: [[UInt8]] { records.map(\.bytes) }

    mutating func add(_ bytes: [UInt8], _ sighting: Sighting) {
        var sightings: Set<Sighting> = [sighting]
        if let index = records.firstIndex(where: { $0.bytes == bytes }) {
            sightings.formUnion(records.remove(at: index).sightings)
        } else if records.count == Self.atMost {
            records.removeFirst()
        }
        records.append((bytes, sightings))
    }

    mutating func remove(_ bytes: [UInt8], _ sighting: Sighting) {
        guard let index = records.firstIndex(where: { $0.bytes == bytes }) else { return }
        records[index].sightings.remove(sighting)
        if records[index].sightings.isEmpty { records.remove(at: index) }
    }
}

import PeerLink
import PeerModel
import PeerTLS
import PeerWire
import Testing

extension PieceReading {
    func bytes(at offset: UInt64 = 0, count: Int? = nil) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0xAA, count: count ?? Int(length - offset))
        try bytes.withUnsafeMutableBytes { try read(at: offset, into: $0) }
        return bytes
    }
}

extension Landing {
    func append(_ bytes: [UInt8]) throws { try bytes.withUnsafeBytes { try append($0) } }
}

/// The offer of a stream whose manifest is in these bytes.
func offer(
    _ manifestBytes: [UInt8], entries: Int, files: Int, size: UInt64, names: [String]? = nil
) throws -> OfferBody {
    let hash = SHA256.hash(manifestBytes)
    let peer = PeerID(SHA256.hash([1, 2, 3]))
    let transfer = TransferID(SHA256.hash(manifestBytes + [1]))
    return OfferBody(
        transfer: transfer, nonce: [UInt8](repeating: 7, count: 16), size: size, entries: UInt32(entries),
        files: UInt32(files), manifestLength: UInt64(manifestBytes.count), manifestHash: hash, recipients: [peer],
        names: try names ?? topNames(manifestBytes))
}

/// The top-level names of a manifest as an offer shows them.
private func topNames(_ manifestBytes: [UInt8]) throws -> [String] {
    var decoder = ManifestDecoder()
    guard (try? manifestBytes.withUnsafeBytes({ try decoder.append($0) })) != nil,
        let manifest = try? decoder.finish()
    else { return ["x"] }
    return manifest.entries.filter { !$0.path.utf8.contains(UInt8(ascii: "/")) }.map {
        $0.kind == .folder ? $0.path + "/" : $0.path
    }
}

func offer(_ source: TransferSource) throws -> OfferBody {
    try offer(
        source.manifestBytes, entries: source.manifest.entries.count, files: source.fileCount, size: source.totalSize,
        names: source.names)
}

/// A landing of a manifest as a hostile sender may write it.
func landing(_ entries: [ManifestEntry], in path: String) throws -> (Landing, [UInt8]) {
    let manifest = try #require(Manifest(entries))
    let bytes = try manifest.encoded()
    let offer = try offer(bytes, entries: entries.count, files: manifest.fileCount, size: manifest.totalSize)
    return (try Landing(folder: path, transfer: offer.transfer, offer: offer), bytes)
}

func landing(of source: TransferSource, in path: String) throws -> Landing {
    let offer = try offer(source)
    return try Landing(folder: path, transfer: offer.transfer, offer: offer)
}

/// Sends everything in parts of this size.
@discardableResult
func receive(
    _ source: TransferSource, in path: String, partSize: Int = 1 << 20, dropping changed: [Int] = []
) throws -> Landing.Landed {
    let landing = try landing(of: source, in: path)
    try copy(source, to: landing, partSize: partSize)
    return try #require(try landing.finish(dropping: changed.map { UInt32($0) }))
}

func copy(_ source: TransferSource, to landing: Landing, partSize: Int = 1 << 20) throws {
    while landing.received < source.length {
        let offset = landing.received
        try landing.append(source.bytes(at: offset, count: min(partSize, Int(source.length - offset))))
    }
}

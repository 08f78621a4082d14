package import PeerModel

/// What an offer says about a transfer, enough to decide on it and to recognise it.
package struct OfferBody: Hashable, Sendable {
    /// Bytes of a transfer's nonce.
    package static let nonceSize = 16
    /// Bytes of a name: what Linux allows for one (`NAME_MAX`).
    package static let nameSizes: ClosedRange<UInt16> = 1...255

    /// The transfer, to be compared with the hash of `TransferLayout.identity`.
    package let transfer: TransferID
    /// 16 bytes that make the ID unique.
    package let nonce: [UInt8]
    /// Bytes of all files together.
    package let size: UInt64
    /// Entries of the manifest, 1 to 1,000,000.
    package let entries: UInt32
    /// Files among them.
    package let files: UInt32
    /// Bytes of the manifest, 1 byte to 128 MiB.
    package let manifestLength: UInt64
    /// SHA-256 of the manifest.
    package let manifestHash: Digest
    /// For whom it is: 1 to 64, ascending, each once.
    package let recipients: [PeerID]
    /// The first top-level names, 1 to 20; foreign text, which recipients compare with the manifest.
    package let names: [String]

    /// An offer to be signed: sorts the recipients, keeps the first 20 names.
    ///
    /// A nonce that has not 16 bytes is a bug of the caller.
    package init(
        transfer: TransferID, nonce: [UInt8], size: UInt64, entries: UInt32, files: UInt32, manifestLength: UInt64,
        manifestHash: Digest, recipients: some Sequence<PeerID>, names: some Sequence<String>
    ) {
        precondition(nonce.count == Self.nonceSize, "nonces have 16 bytes")
        self.transfer = transfer
        self.nonce = nonce
        self.size = size
        self.entries = entries
        self.files = files
        self.manifestLength = manifestLength
        self.manifestHash = manifestHash
        self.recipients = Set(recipients).sorted()
        self.names = names.prefix(Limits.topNames).map {
            DisplayName.cut($0, toBytes: Int(Self.nameSizes.upperBound))
        }
    }

    /// How `names` has a top-level entry: folders end in `/` where that fits.
    package static func shownName(_ name: String, isFolder: Bool) -> String {
        DisplayName.cut(isFolder ? name + "/" : name, toBytes: Int(nameSizes.upperBound))
    }

    /// What a person is shown before accepting.
    package var summary: OfferSummary {
        let first = names.first ?? ""
        let name =
            switch names.count {
            case ...1: first
            case Limits.topNames: "\(first) and at least \(names.count - 1) more"
            default: "\(first) and \(names.count - 1) more"
            }
        return OfferSummary(name: name, size: size, files: Int(files))
    }

    init(from reader: inout ByteReader) throws(WireError) {
        transfer = try reader.transferID()
        nonce = try reader.bytes(Self.nonceSize)
        size = try reader.number()
        entries = try reader.number(in: 1...UInt32(Limits.entries))
        files = try reader.number(in: 0...entries)
        manifestLength = try reader.number(in: 1...UInt64(Limits.manifest))
        // The number of every piece must fit its 4 bytes.
        guard size <= TransferLayout.maximumStream - manifestLength else { throw .badLayout }
        manifestHash = try reader.digest()
        var recipients: [PeerID] = []
        for _ in 0..<(try reader.number(in: 1...UInt16(Limits.peersAtMost))) {
            let recipient = try reader.peerID()
            if let last = recipients.last, recipient <= last { throw .badLayout }
            recipients.append(recipient)
        }
        self.recipients = recipients
        var names: [String] = []
        for _ in 0..<(try reader.number(in: 1...UInt8(Limits.topNames))) {
            names.append(try reader.text(Int(try reader.number(in: Self.nameSizes))))
        }
        self.names = names
    }

    func encode(into writer: inout ByteWriter) {
        writer.transferID(transfer)
        writer.bytes(nonce)
        writer.number(size)
        writer.number(entries)
        writer.number(files)
        writer.number(manifestLength)
        writer.digest(manifestHash)
        writer.number(UInt16(clamping: recipients.count))
        for recipient in recipients { writer.peerID(recipient) }
        writer.number(UInt8(names.count))  // cut to 20 in `init`
        for name in names {
            writer.number(UInt16(name.utf8.count))  // cut to 255 in `init`
            writer.text(name)
        }
    }
}

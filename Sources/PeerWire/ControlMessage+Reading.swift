internal import FoundationEssentials
internal import PeerModel

extension ControlMessage {
    /// Reads a frame; throws `malformed` when a known kind is not what `WIRE.md` says.
    package init(_ frame: RawFrame) throws(WireError) {
        guard let kind = Kind(rawValue: frame.kind) else {
            self = .unknown(kind: frame.kind)
            return
        }
        do {
            // A recursion as deep as the payload is long would end the process; the decoder stops at 512 levels.
            self = try JSONDecoder().decode(Payload.self, from: Data(frame.payload), configuration: kind).message
        } catch {
            throw .malformed(kind: frame.kind)
        }
    }

    private struct Payload: DecodableWithConfiguration {
        let message: ControlMessage

        init(from decoder: any Decoder, configuration kind: Kind) throws {
            message = try ControlMessage(kind, FieldReader(decoder))
        }
    }

    private init(_ kind: Kind, _ fields: FieldReader) throws {
        self =
            switch kind {
            case .hello: .hello(try Hello(fields))
            case .refuse: try .refuse(fields.versions())
            case .ping: .ping
            case .pong: .pong
            case .open: .open(Open(transfer: try fields.id(.transfer), ticket: try fields.bytes(.ticket, count: 16)))
            case .invite: .invite(try Invite(fields))
            case .answer: .answer(try InviteAnswer(fields))
            case .withdraw: .withdraw(chat: try fields.id(.chat), reason: try fields.word(.reason))
            case .welcome: .welcome(try Welcome(fields))
            case .say: .say(try fields.signed(.statement))
            case .event: .event(n: try fields.number(.n, in: WireNumber.fromOne), bytes: try fields.bytes(.event))
            case .seen: .seen(n: try fields.number(.n))
            case .delivered: try .delivered(from: fields)
            case .rejected: try .rejected(from: fields)
            case .leave: .leave
            case .end: .end(reason: try fields.endReason())
            case .respond: try .respond(from: fields)
            case .get: .get(try Get(fields))
            case .progress: try .progress(from: fields)
            case .result: try .result(from: fields)
            case .cancel: .cancel(transfer: try fields.id(.transfer))
            case .failed: .failed(transfer: try fields.id(.transfer), reason: try fields.word(.reason))
            }
    }

    private static func refuse(_ versions: (min: Int, max: Int)) -> ControlMessage {
        .refuse(min: versions.min, max: versions.max)
    }

    private static func delivered(from fields: FieldReader) throws -> ControlMessage {
        .delivered(
            n: try fields.number(.n, in: WireNumber.fromOne),
            missing: try fields.ids(.missing, atMost: Limits.peersAtMost))
    }

    private static func rejected(from fields: FieldReader) throws -> ControlMessage {
        .rejected(
            counter: try fields.number(.counter, in: WireNumber.fromOne),
            reason: try fields.text(.reason, bytes: 0...maximumReason))
    }

    private static func respond(from fields: FieldReader) throws -> ControlMessage {
        .respond(
            transfer: try fields.id(.transfer), accept: try fields.flag(.accept),
            automatic: try fields.flag(.automatic))
    }

    private static func progress(from fields: FieldReader) throws -> ControlMessage {
        .progress(
            transfer: try fields.id(.transfer), peer: fields.has(.peer) ? try fields.id(.peer) : nil,
            bytes: try fields.number(.bytes))
    }

    private static func result(from fields: FieldReader) throws -> ControlMessage {
        .result(
            transfer: try fields.id(.transfer), status: try fields.word(.status),
            reason: fields.has(.reason) ? try fields.word(.reason) : nil)
    }
}

extension Get {
    fileprivate init(_ fields: FieldReader) throws {
        let piece = try fields.number(.piece, in: 0...TransferLayout.maximumPieces)
        self.init(
            transfer: try fields.id(.transfer), ticket: try fields.bytes(.ticket, count: 16), piece: piece,
            proof: fields.has(.proof) ? try PieceProof(try fields.object(.proof), atMost: piece) : nil)
    }
}

extension PieceProof {
    fileprivate init(_ fields: FieldReader, atMost piece: UInt64) throws {
        index = try fields.number(.piece)
        guard index >= 1, index <= piece, let link = Digest(try fields.bytes(.hash, count: Digest.size)) else {
            throw FieldReader.BadField()
        }
        self.link = link
        signature = try fields.bytes(.signature, count: SignedBytes.signatureSize)
    }
}

extension FieldReader {
    fileprivate func versions() throws -> (min: Int, max: Int) {
        let min = try number(.min, in: 0...0xFFFF), max = try number(.max, in: min...0xFFFF)
        return (Int(min), Int(max))
    }

    fileprivate func endReason() throws -> ChatEndReason {
        let reason = try word(.reason, ChatEndReason.self)
        guard reason == .ended || reason == .kicked else { throw BadField() }
        return reason
    }
}

extension Hello {
    fileprivate init(_ fields: FieldReader) throws {
        let (min, max) = try fields.versions()
        guard let run = RunID(try fields.text(.run, bytes: 8...8)),
            let name = DisplayName(exactly: try fields.text(.name, bytes: 1...DisplayName.maximumBytes))
        else { throw FieldReader.BadField() }
        self.init(
            min: min, max: max, run: run, name: name, port: UInt16(try fields.number(.port, in: 0...0xFFFF)),
            addresses: try fields.texts(.addresses))
    }
}

extension Invite {
    fileprivate init(_ fields: FieldReader) throws {
        chat = try fields.id(.chat)
        nonce = try fields.bytes(.nonce, count: Join.nonceSize)
        purpose = try fields.word(.purpose)
        guard fields.has(.offer) else {
            guard purpose != .file else { throw FieldReader.BadField() }
            offer = nil
            return
        }
        let inner = try fields.object(.offer)
        offer = OfferSummary(
            name: try inner.text(.name, bytes: 1...OfferSummary.maximumName),
            size: inner.has(.size) ? try inner.number(.size) : nil,
            files: Int(try inner.number(.files, in: 0...UInt64(Limits.entries))))
    }
}

extension InviteAnswer {
    fileprivate init(_ fields: FieldReader) throws {
        let chat = try fields.id(.chat, ChatID.self)
        switch try fields.word(.answer, Answer.self) {
        case .accepted: self.init(chat: chat, accepting: try fields.signed(.join))
        case let answer where Self.refusals.contains(answer): self.init(chat: chat, refusing: answer)
        default: throw FieldReader.BadField()
        }
    }
}

extension Welcome {
    fileprivate init(_ fields: FieldReader) throws {
        chat = try fields.id(.chat)
        guard let hash = Digest(try fields.bytes(.hash, count: Digest.size)) else { throw FieldReader.BadField() }
        before = EventReference(n: try fields.number(.n), hash: hash)
        joined = try fields.manyBytes(.joined, count: 1...Limits.peersAtMost)
        members = try fields.objects(.members, count: 0...(Limits.peersAtMost - joined.count)) {
            try $0.signed(.join)
        }
        let said = try fields.objects(.counters, count: 0...Limits.authors) { author in
            (try author.id(.peer, PeerID.self), try author.number(.counter, in: WireNumber.fromOne))
        }
        counters = Dictionary(said) { max($0, $1) }
    }
}

internal import FoundationEssentials
internal import PeerModel

extension ControlMessage {
    /// Bytes of the reason inside `rejected`.
    static let maximumReason = 255

    /// The whole frame, header included.
    ///
    /// The same message gives the same bytes: the keys are sorted.
    package func encoded() -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let json = try? encoder.encode(Payload(message: self)) else {
            preconditionFailure("texts, whole numbers and lists of them always have a JSON form")
        }
        return encodeFrame(kind: kind, payload: Array(json))
    }

    private struct Payload: Encodable {
        let message: ControlMessage

        func encode(to encoder: any Encoder) throws {
            var fields = FieldWriter(encoder)
            try message.write(to: &fields)
        }
    }

    private func write(to fields: inout FieldWriter) throws {
        switch self {
        case .hello, .refuse, .ping, .pong, .open, .leave, .unknown: try writeConnection(to: &fields)
        case .invite, .answer, .withdraw, .welcome: try writeInvitation(to: &fields)
        case .say, .event, .seen, .delivered, .rejected, .end: try writeChat(to: &fields)
        case .respond, .get, .progress, .result, .cancel, .failed: try writeTransfer(to: &fields)
        }
    }

    private func writeConnection(to fields: inout FieldWriter) throws {
        switch self {
        case .hello(let hello):
            try fields.number(.min, hello.min)
            try fields.number(.max, hello.max)
            try fields.text(.run, hello.run.description)
            try fields.text(.name, hello.name.description)
            try fields.number(.port, hello.port)
            try fields.texts(.addresses, hello.addresses)
        case .refuse(let min, let max):
            try fields.number(.min, min)
            try fields.number(.max, max)
        case .open(let open):
            try fields.id(.transfer, open.transfer)
            try fields.bytes(.ticket, open.ticket)
        default: break  // `{}`
        }
    }

    private func writeInvitation(to fields: inout FieldWriter) throws {
        switch self {
        case .invite(let invite):
            try fields.id(.chat, invite.chat)
            try fields.bytes(.nonce, invite.nonce)
            try fields.word(.purpose, invite.purpose)
            guard let offer = invite.offer else { break }
            try fields.object(.offer) {
                try $0.text(.name, DisplayName.cut(offer.name, toBytes: OfferSummary.maximumName))
                if let size = offer.size { try $0.number(.size, size) }
                try $0.number(.files, offer.files)
            }
        case .answer(let answer):
            try fields.id(.chat, answer.chat)
            try fields.word(.answer, answer.answer)
            if let join = answer.join { try fields.signed(.join, join) }
        case .withdraw(let chat, let reason):
            try fields.id(.chat, chat)
            try fields.word(.reason, reason)
        case .welcome(let welcome):
            try fields.id(.chat, welcome.chat)
            try fields.number(.n, welcome.before.n)
            try fields.bytes(.hash, welcome.before.hash.bytes)
            try fields.manyBytes(.joined, welcome.joined)
            try fields.objects(.members, welcome.members) { try $0.signed(.join, $1) }
            try fields.objects(.counters, welcome.counters.sorted { $0.key < $1.key }) { author, said in
                try author.id(.peer, said.key)
                try author.number(.counter, said.value)
            }
        default: break
        }
    }

    private func writeChat(to fields: inout FieldWriter) throws {
        switch self {
        case .say(let statement): try fields.signed(.statement, statement)
        case .event(let n, let bytes):
            try fields.number(.n, n)
            try fields.bytes(.event, bytes)
        case .seen(let n): try fields.number(.n, n)
        case .delivered(let n, let missing):
            try fields.number(.n, n)
            try fields.texts(.missing, missing.map(\.description))
        case .rejected(let counter, let reason):
            try fields.number(.counter, counter)
            try fields.text(.reason, DisplayName.cut(reason, toBytes: Self.maximumReason))
        case .end(let reason): try fields.word(.reason, reason)
        default: break
        }
    }

    private func writeTransfer(to fields: inout FieldWriter) throws {
        switch self {
        case .respond(let transfer, let accept, let automatic):
            try fields.id(.transfer, transfer)
            try fields.flag(.accept, accept)
            try fields.flag(.automatic, automatic)
        case .get(let get):
            try fields.id(.transfer, get.transfer)
            try fields.bytes(.ticket, get.ticket)
            try fields.number(.piece, get.piece)
            guard let proof = get.proof else { break }
            try fields.object(.proof) {
                try $0.number(.piece, proof.index)
                try $0.bytes(.hash, proof.link.bytes)
                try $0.bytes(.signature, proof.signature)
            }
        case .progress(let transfer, let peer, let bytes):
            try fields.id(.transfer, transfer)
            if let peer { try fields.id(.peer, peer) }
            try fields.number(.bytes, bytes)
        case .result(let transfer, let status, let reason):
            try fields.id(.transfer, transfer)
            try fields.word(.status, status)
            if let reason { try fields.word(.reason, reason) }
        case .cancel(let transfer): try fields.id(.transfer, transfer)
        case .failed(let transfer, let reason):
            try fields.id(.transfer, transfer)
            try fields.word(.reason, reason)
        default: break
        }
    }
}

extension OfferSummary {
    /// Bytes of the name inside an invitation: a file name of 255 and the words behind it, and a first frame's 4 KiB
    /// hold it whatever JSON makes of its characters.
    static let maximumName = 512
}

import PeerModel
import Testing

@testable import PeerWire

@Suite struct ControlMessageTests {
    static let peer = "aeaqcaibaeaqcaibaeaqcaibaeaqcaibaeaqcaibaeaqcaibaeaq"
    static let other = "aibaeaqcaibaeaqcaibaeaqcaibaeaqcaibaeaqcaibaeaqcaiba"
    static let chat = "aeaqcaibaeaqcaibaeaqcaibae"
    static let transfer = "aucqkbifaucqkbifaucqkbifaucqkbifaucqkbifaucqkbifaucq"
    static let nonce = "AwMDAwMDAwMDAwMDAwMDAw=="
    static let hash = "BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc="
    static let signature =
        "BgYGBgYGBgYGBgYGBgYGBgYGBgYGBgYGBgYGBgYGBgYGBgYGBgYGBgYGBgYGBgYGBgYGBgYGBgYGBgYGBgYGBg=="
    static let signed = Fixture.signed(Array("join".utf8))

    /// Each kind as a value, by its number, and as the text on the wire.
    static let all: [(ControlMessage, UInt8, String)] = connection + invitation + conversation + transfers

    static let connection: [(ControlMessage, UInt8, String)] = [
        (
            .hello(
                Hello(min: 1, max: 2, run: Fixture.run, name: Fixture.name, port: 27182, addresses: ["10.0.0.7:27182"])),
            1,
            #"{"addresses":["10.0.0.7:27182"],"max":2,"min":1,"name":"Ada","port":27182,"run":"abcd2345"}"#
        ),
        (.refuse(min: 0, max: 65535), 2, #"{"max":65535,"min":0}"#),
        (.ping, 3, "{}"), (.pong, 4, "{}"),
        (
            .open(Open(transfer: Fixture.transfer, ticket: Fixture.nonce)), 5,
            #"{"ticket":"\#(nonce)","transfer":"\#(transfer)"}"#
        ),
    ]

    static let invitation: [(ControlMessage, UInt8, String)] = [
        (
            .invite(Invite(chat: Fixture.chat, nonce: Fixture.nonce, purpose: .chat, offer: nil)), 16,
            #"{"chat":"\#(chat)","nonce":"\#(nonce)","purpose":"chat"}"#
        ),
        (
            .invite(
                Invite(
                    chat: Fixture.chat, nonce: Fixture.nonce, purpose: .file,
                    offer: OfferSummary(name: "a/b", size: 12, files: 3))), 16,
            #"{"chat":"\#(chat)","nonce":"\#(nonce)","offer":{"files":3,"name":"a/b","size":12},"purpose":"file"}"#
        ),
        (
            .invite(
                Invite(
                    chat: Fixture.chat, nonce: Fixture.nonce, purpose: .message,
                    offer: OfferSummary(name: "-", size: nil, files: 1))), 16,
            #"{"chat":"\#(chat)","nonce":"\#(nonce)","offer":{"files":1,"name":"-"},"purpose":"message"}"#
        ),
        (
            .answer(InviteAnswer(chat: Fixture.chat, accepting: signed)), 17,
            #"{"answer":"accepted","chat":"\#(chat)","join":"am9pbg==","signature":"\#(signature)"}"#
        ),
        (
            .answer(InviteAnswer(chat: Fixture.chat, refusing: .busy)), 17,
            #"{"answer":"busy","chat":"\#(chat)"}"#
        ),
        (.withdraw(chat: Fixture.chat, reason: .crossed), 18, #"{"chat":"\#(chat)","reason":"crossed"}"#),
        (
            .welcome(
                Welcome(
                    chat: Fixture.chat, before: EventReference(n: 2, hash: Fixture.digest), members: [signed, signed],
                    joined: [Array("join".utf8)], counters: [Fixture.peer: 5])),
            19,
            #"{"chat":"\#(chat)","counters":[{"counter":5,"peer":"\#(peer)"}],"hash":"\#(hash)","joined":["am9pbg=="],"members":[{"join":"am9pbg==","signature":"\#(signature)"},"#
                + #"{"join":"am9pbg==","signature":"\#(signature)"}],"n":2}"#
        ),
    ]

    static let conversation: [(ControlMessage, UInt8, String)] = [
        (.say(signed), 32, #"{"signature":"\#(signature)","statement":"am9pbg=="}"#),
        (.event(n: 1, bytes: Array("join".utf8)), 33, #"{"event":"am9pbg==","n":1}"#),
        (.seen(n: UInt64(Int64.max)), 34, #"{"n":9223372036854775807}"#),
        (
            .delivered(n: 3, missing: [Fixture.peer, Fixture.other]), 35,
            #"{"missing":["\#(peer)","\#(other)"],"n":3}"#
        ),
        (.delivered(n: 3, missing: []), 35, #"{"missing":[],"n":3}"#),
        (.rejected(counter: 4, reason: "too old"), 36, #"{"counter":4,"reason":"too old"}"#),
        (.leave, 37, "{}"),
        (.end(reason: .kicked), 38, #"{"reason":"kicked"}"#),
    ]

    static let transfers: [(ControlMessage, UInt8, String)] = [
        (
            .respond(transfer: Fixture.transfer, accept: true, automatic: false), 48,
            #"{"accept":true,"automatic":false,"transfer":"\#(transfer)"}"#
        ),
        (
            .get(Get(transfer: Fixture.transfer, ticket: Fixture.nonce, piece: 6)), 49,
            #"{"piece":6,"ticket":"\#(nonce)","transfer":"\#(transfer)"}"#
        ),
        (
            .progress(transfer: Fixture.transfer, peer: nil, bytes: 7), 50,
            #"{"bytes":7,"transfer":"\#(transfer)"}"#
        ),
        (
            .progress(transfer: Fixture.transfer, peer: Fixture.peer, bytes: 7), 50,
            #"{"bytes":7,"peer":"\#(peer)","transfer":"\#(transfer)"}"#
        ),
        (
            .result(transfer: Fixture.transfer, status: .verified, reason: nil), 51,
            #"{"status":"verified","transfer":"\#(transfer)"}"#
        ),
        (
            .result(transfer: Fixture.transfer, status: .failed, reason: .diskFull), 51,
            #"{"reason":"disk-full","status":"failed","transfer":"\#(transfer)"}"#
        ),
        (.cancel(transfer: Fixture.transfer), 52, #"{"transfer":"\#(transfer)"}"#),
        (
            .failed(transfer: Fixture.transfer, reason: .tooLarge), 53,
            #"{"reason":"too-large","transfer":"\#(transfer)"}"#
        ),
        (
            .get(
                Get(
                    transfer: Fixture.transfer, ticket: Fixture.nonce, piece: 17,
                    proof: PieceProof(index: 16, link: Fixture.digest, signature: Fixture.signature))), 49,
            #"{"piece":17,"proof":{"hash":"\#(hash)","piece":16,"signature":"\#(signature)"},"#
                + #""ticket":"\#(nonce)","transfer":"\#(transfer)"}"#
        ),
    ]

    static func read(_ kind: UInt8, _ json: String) throws(WireError) -> ControlMessage {
        try ControlMessage(RawFrame(kind: kind, payload: Array(json.utf8)))
    }

    @Test("Each message has the kind and the text of the specification, and is read back from them", arguments: all)
    func golden(message: ControlMessage, kind: UInt8, json: String) throws {
        #expect(message.encoded() == encodeFrame(kind: kind, payload: Array(json.utf8)))
        #expect(try Self.read(kind, json) == message)
    }

    @Test("The list above has every kind")
    func complete() {
        #expect(Set(Self.all.map(\.1)) == Set(ControlMessage.Kind.allCases.map(\.rawValue)))
    }

    @Test("Unknown keys are ignored and null is a missing key", arguments: all)
    func unknownKeys(message: ControlMessage, kind: UInt8, json: String) throws {
        let comma = json == "{}" ? "" : ","
        #expect(try Self.read(kind, #"{"zzz":{"n":[1,null]}\#(comma)"# + json.dropFirst()) == message)
        let nulls = #"{"zzz":null\#(comma)"# + json.dropFirst()
        #expect(try Self.read(kind, nulls) == message)
        #expect(try Self.read(50, #"{"bytes":7,"peer":null,"transfer":"\#(Self.transfer)"}"#) == Self.transfers[2].0)
    }

    @Test("Unknown kinds are kept apart, whatever they carry", arguments: [0, 6, 15, 20, 31, 39, 47, 54, 255])
    func unknownKind(kind: UInt8) throws {
        #expect(try ControlMessage(RawFrame(kind: kind, payload: [0xFF])) == .unknown(kind: kind))
    }

    @Test("A payload that was cut anywhere is malformed", arguments: all)
    func truncated(message: ControlMessage, kind: UInt8, json: String) {
        let payload = Array(json.utf8)
        for end in payload.indices {
            #expect(throws: WireError.malformed(kind: kind)) {
                try ControlMessage(RawFrame(kind: kind, payload: Array(payload[..<end])))
            }
        }
        #expect(throws: WireError.malformed(kind: kind)) { try Self.read(kind, json + "x") }
    }

    @Test("A payload without one of its keys is malformed, unless the key may be missing", arguments: all)
    func missingKeys(message: ControlMessage, kind: UInt8, json: String) throws {
        for key in FieldKey.allCases where json.contains(#""\#(key.rawValue)":"#) {
            let without = json.replacing(#""\#(key.rawValue)":"#, with: #""no \#(key.rawValue)":"#)
            let isOptional =
                switch (kind, key) {
                case (16, .offer): !json.contains(#""purpose":"file""#)
                case (16, .size), (49, .proof), (50, .peer), (51, .reason): true
                default: false
                }
            #expect((try? Self.read(kind, without)) != nil ? isOptional : !isOptional, "\(kind) \(key)")
        }
    }
}

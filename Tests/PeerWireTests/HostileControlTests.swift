import PeerModel
import Testing

@testable import PeerWire

@Suite struct HostileControlTests {
    typealias Valid = ControlMessageTests

    static let hello = #""addresses":[],"port":1,"run":"abcd2345""#

    static func get(_ more: String) -> String {
        #"{"transfer":"\#(Valid.transfer)","ticket":"\#(Valid.nonce)","piece":16,\#(more)}"#
    }

    static let outside: [(kind: UInt8, payloads: [String])] = [
        (
            1,
            [
                #"{"min":2,"max":1,"name":"a",\#(hello)}"#,
                #"{"min":-1,"max":1,"name":"a",\#(hello)}"#,
                #"{"min":1,"max":65536,"name":"a",\#(hello)}"#,
                #"{"min":1,"max":1,"name":"",\#(hello)}"#,
                #"{"min":1,"max":1,"name":" a",\#(hello)}"#,
                #"{"min":1,"max":1,"name":"a\u0007b",\#(hello)}"#,
                #"{"min":1,"max":1,"name":"\ud800",\#(hello)}"#,
                #"{"min":1,"max":1,"name":"\#(String(repeating: "n", count: 64))",\#(hello)}"#,
                #"{"min":1,"max":1,"name":"a","addresses":[],"port":65536,"run":"abcd2345"}"#,
                #"{"min":1,"max":1,"name":"a","addresses":[],"port":1,"run":"ABCD2345"}"#,
                #"{"min":1,"max":1,"name":"a","addresses":[1],"port":1,"run":"abcd2345"}"#,
            ]
        ),
        (
            2,
            [
                #"{"min":1.5,"max":2}"#,
                #"{"min":"1","max":2}"#,
                #"{"min":1,"max":1e400}"#,
            ]
        ),
        (
            3,
            [
                "",
                "[]",
                "1",
                "null",
            ]
        ),
        (
            4,
            [
                "\u{FEFF}"
            ]
        ),
        (
            5,
            [
                #"{"transfer":"\#(Valid.transfer)","ticket":"AwMDAwMDAwMDAwMDAwMD"}"#,
                #"{"transfer":"\#(Valid.transfer.uppercased())","ticket":"\#(Valid.nonce)"}"#,
            ]
        ),
        (
            16,
            [
                #"{"chat":"\#(Valid.chat)","nonce":"\#(Valid.nonce)","purpose":"party"}"#,
                #"{"chat":"\#(Valid.chat)","nonce":"\#(Valid.nonce)","purpose":"file"}"#,
                #"{"chat":"\#(Valid.peer)","nonce":"\#(Valid.nonce)","purpose":"chat"}"#,
            ]
        ),
        (
            17,
            [
                #"{"chat":"\#(Valid.chat)","answer":"accepted"}"#,
                #"{"chat":"\#(Valid.chat)","answer":"accepted","join":"am9pbg==","signature":"am9pbg=="}"#,
                #"{"chat":"\#(Valid.chat)","answer":"unreachable"}"#,
            ]
        ),
        (
            18,
            [
                #"{"chat":"\#(Valid.chat)","reason":"bored"}"#
            ]
        ),
        (
            19,
            [
                #"{"chat":"\#(Valid.chat)","n":0,"hash":"\#(Valid.hash)","joined":[],"members":[]}"#,
                #"{"chat":"\#(Valid.chat)","n":0,"hash":"\#(Valid.nonce)","joined":["AA=="],"members":[]}"#,
                #"{"chat":"\#(Valid.chat)","n":0,"hash":"\#(Valid.hash)","joined":["AA=="],"members":[{}]}"#,
            ]
        ),
        (
            32,
            [
                #"{"statement":"*","signature":"\#(Valid.signature)"}"#
            ]
        ),
        (
            33,
            [
                #"{"n":0,"event":""}"#,
                #"{"n":1,"event":"a"}"#,
            ]
        ),
        (
            34,
            [
                #"{"n":-1}"#,
                #"{"n":9223372036854775808}"#,
                #"{"n":18446744073709551616}"#,
            ]
        ),
        (
            35,
            [
                #"{"n":1,"missing":["\#(Valid.chat)"]}"#,
                #"{"n":1,"missing":{}}"#,
            ]
        ),
        (
            36,
            [
                #"{"counter":0,"reason":""}"#,
                #"{"counter":1,"reason":"\#(String(repeating: "r", count: 256))"}"#,
            ]
        ),
        (
            38,
            [
                #"{"reason":"left"}"#,
                #"{"reason":"host-lost"}"#,
            ]
        ),
        (
            48,
            [
                #"{"transfer":"\#(Valid.transfer)","accept":1,"automatic":false}"#
            ]
        ),
        (
            49,
            [
                #"{"transfer":"\#(Valid.transfer)","ticket":"\#(Valid.nonce)","piece":4294967296}"#,
                get(#""proof":1"#),
                get(#""proof":{}"#),
                get(#""proof":{"piece":17,"hash":"\#(Valid.hash)","signature":"\#(Valid.signature)"}"#),
                get(#""proof":{"piece":0,"hash":"\#(Valid.hash)","signature":"\#(Valid.signature)"}"#),
                get(#""proof":{"piece":16,"hash":"\#(Valid.nonce)","signature":"\#(Valid.signature)"}"#),
                get(#""proof":{"piece":16,"hash":"\#(Valid.hash)","signature":"\#(Valid.hash)"}"#),
            ]
        ),
        (
            50,
            [
                #"{"transfer":"\#(Valid.transfer)","peer":"","bytes":1}"#
            ]
        ),
        (
            51,
            [
                #"{"transfer":"\#(Valid.transfer)","status":"fine"}"#,
                #"{"transfer":"\#(Valid.transfer)","status":"failed","reason":"why not"}"#,
            ]
        ),
        (
            53,
            [
                #"{"transfer":"\#(Valid.transfer)","reason":"none"}"#
            ]
        ),
    ]

    @Test("Values outside the specification are malformed", arguments: outside)
    func refuses(kind: UInt8, payloads: [String]) {
        for json in payloads {
            #expect(throws: WireError.malformed(kind: kind), "\(json)") { try Valid.read(kind, json) }
        }
    }

    @Test("Text that is not UTF-8 is malformed")
    func notUTF8() {
        let payload = Array(#"{"counter":1,"reason":""#.utf8) + [0xC3, 0x28] + Array(#""}"#.utf8)
        #expect(throws: WireError.malformed(kind: 36)) { try ControlMessage(RawFrame(kind: 36, payload: payload)) }
    }

    @Test("Nesting as deep as a payload can hold is malformed and costs no stack", arguments: ["[", #"{"a":"#])
    func nesting(opening: String) {
        let json = #"{"zzz":"# + String(repeating: opening, count: (Limits.controlPayload - 8) / opening.utf8.count)
        #expect(throws: WireError.malformed(kind: 3)) { try Valid.read(3, json) }
    }

    @Test("A key that comes twice does no harm")
    func duplicates() throws {
        let message = try Valid.read(34, #"{"n":1,"n":2}"#)
        #expect(message == .seen(n: 1) || message == .seen(n: 2))
    }

    @Test("Too many members, missing peers or addresses are refused or dropped")
    func tooMany() throws {
        let member = #"{"join":"am9pbg==","signature":"\#(Valid.signature)"}"#
        func welcome(_ before: Int, _ new: Int) -> String {
            let members = Array(repeating: member, count: before).joined(separator: ",")
            let joined = Array(repeating: #""am9pbg==""#, count: new).joined(separator: ",")
            return #"{"chat":"\#(Valid.chat)","counters":[],"hash":"\#(Valid.hash)","joined":[\#(joined)],"#
                + #""members":[\#(members)],"n":0}"#
        }
        for (before, new) in [(63, 1), (0, 64)] {
            guard case .welcome(let read) = try Valid.read(19, welcome(before, new)) else {
                Issue.record("another message")
                return
            }
            #expect(read.members.count == before && read.joined.count == new)
        }
        for (before, new) in [(64, 1), (0, 65), (1, 64), (1, 0)] {
            #expect(throws: WireError.malformed(kind: 19)) { try Valid.read(19, welcome(before, new)) }
        }
        let peers = Array(repeating: #""\#(Valid.peer)""#, count: 65).joined(separator: ",")
        #expect(throws: WireError.malformed(kind: 35)) { try Valid.read(35, #"{"n":1,"missing":[\#(peers)]}"#) }
        let addresses = Array(repeating: #""a""#, count: 17).joined(separator: ",")
        let json = #"{"addresses":[\#(addresses)],"max":1,"min":1,"name":"a","port":1,"run":"abcd2345"}"#
        guard case .hello(let hello) = try Valid.read(1, json) else {
            Issue.record("another message")
            return
        }
        #expect(hello.addresses.count == 16)
    }
}

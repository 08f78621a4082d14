import PeerModel
import PeerProtocol
import PeerSystem
import PeerTLS
import PeerWire
import Testing

@testable import PeerLink

@Suite("The first frames of a connection") struct GreetingTests {
    @Test("A refusal arrives whole, whatever the other side goes on sending", .timeLimit(.minutes(8)))
    func refusal() async throws {
        let node = try TestNode("host"), other = try ScriptedPeer("other")
        let port = try #require(try await node.engine.start())
        let (answer, ending) = try await other.dial(port: port) { stream in
            _ = try stream.hear()
            try stream.write(ControlMessage.hello(try other.hello(versions: 9...9)).encoded())
            // More than is read at once.
            for _ in 0..<300 { try stream.write(encodeFrame(kind: 200, payload: [UInt8](repeating: 0, count: 4000))) }
            try stream.flushAll()
            return (try stream.hear(), stream.ending())
        }
        #expect(answer == .refuse(min: ProtocolVersion.lowest, max: ProtocolVersion.highest))
        #expect(ending == .ended)
        await node.engine.stop()
    }

    @Test("Whoever shows the own key is warned of, and sent away before it can ask anything", .timeLimit(.minutes(8)))
    func ownKey() async throws {
        let node = try TestNode("host"), clone = try ScriptedPeer("host", key: node.identity.key)
        let port = try #require(try await node.engine.start())
        let ending = try await clone.dial(port: port) { stream in
            _ = try stream.hear()
            try stream.write(ControlMessage.hello(try clone.hello()).encoded())
            let chat = try #require(ChatID(bytes: [UInt8](repeating: 1, count: ChatID.size)))
            let nonce = [UInt8](repeating: 1, count: Join.nonceSize)
            try stream.tell(.invite(Invite(chat: chat, nonce: nonce, purpose: .chat, offer: nil)))
            return stream.ending()
        }
        #expect(ending == .ended)
        let code = try await node.next("a warning") {
            if case .warning(let code, _, _) = $0 { code } else { nil }
        }
        #expect(code == .sameID)
        #expect(await !node.has { $0.question != nil })
        await node.engine.stop()
    }

    @Test("A hello says where its sender can be reached", .timeLimit(.minutes(8)))
    func addresses() async throws {
        let node = try TestNode("host"), other = try ScriptedPeer("other")
        let port = try #require(try await node.engine.start())
        let first = try await other.dial(port: port) { stream in try stream.hear() }
        guard case .hello(let hello) = first else {
            Issue.record("no hello")
            return
        }
        let own = NetworkInterface.current().filter { !$0.isLoopback }.flatMap(\.addresses).map(\.address)
        let usable = own.filter { !$0.isLinkLocal }.map { $0.with(port: port).description }
        #expect(hello.addresses == Array(usable.prefix(Hello.maximumAddresses)))
        await node.engine.stop()
    }
}

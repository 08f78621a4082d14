import Foundation
import PeerConnect
import PeerModel
import Testing

@testable import PeerConnectCLI

@Suite(.timeLimit(.minutes(8)))
struct OneShotTests {
    @Test("Browse prints each peer as a row, and leaves no identity behind")
    func browse() async throws {
        let node = ScriptedSession(me: try peer("me", 9))
        let stage = Stage(home: ScriptedHome(node: node))
        let ada = try peer("a\u{1B}da", 1)
        let address = PeerAddress(.v4([10, 0, 0, 7]), port: 27182)
        node.emit(.peerFound(ListedPeer(peer: ada, number: 1, isBusy: false, kind: "chat", addresses: [address])))
        await node.stop()
        let world = stage.world(sleep: { _ in try await Task.sleep(for: .seconds(3600)) })
        #expect(await execute(["browse"], in: world) == 0)
        #expect(stage.out == "a␛da\t\(ada.id.short)\tidle\t10.0.0.7:27182\n")
        #expect(stage.home.sessions.map(\.isStored) == [false])
        #expect(stage.home.sessions.first?.settings.isVisible == false)
    }

    @Test("Browse ends when its time is up, with an empty list too")
    func browseEnds() async throws {
        let node = ScriptedSession(me: try peer("me", 9))
        let stage = Stage(home: ScriptedHome(node: node))
        #expect(await stage.run("browse", "--json") == 0)
        #expect(stage.outLines.count == 2)
        #expect(
            stage.outLines.first?.hasPrefix(#"{"event":"ready","time":"2026-11-30T00:53:20.123Z","schema":1,"#) == true)
        #expect(stage.outLines.last == #"{"event":"exit","time":"2026-11-30T00:53:20.123Z","code":0}"#)
        #expect(node.isStopped)
    }

    private func sending(
        _ outcome: @escaping @Sendable (PeerReference, Int) -> OfferOutcome
    ) throws -> Stage {
        var snapshot = NodeSnapshot()
        snapshot.peers = try [("ada", 1), ("bob b", 2)].map { name, byte in
            ListedPeer(peer: try peer(name, byte), number: Int(byte), isBusy: false, kind: "inbox", addresses: [])
        }
        return Stage(
            home: ScriptedHome(node: ScriptedSession(me: try peer("me", 9), snapshot: snapshot, offer: outcome)))
    }

    @Test("Send offers to everyone named, once each, and ends with a row for each")
    func send() async throws {
        let ada = try peer("ada", 1), bob = try peer("bob b", 2)
        let stage = try sending { reference, _ in
            .finished(TransferResult(peer: reference.text == "ada" ? ada : bob, status: .verified))
        }
        #expect(await stage.run("send", "f", "/g", "--to", "ada", "--to-file", "list") == 0)
        #expect(stage.out == "verified\tada\t\(ada.id)\t\nverified\tbob b\t\(bob.id)\t\n")
        #expect(
            stage.home.node.commands.sorted() == [
                #"offer ["/work dir/f", "/g"] to ada"#, #"offer ["/work dir/f", "/g"] to bob b"#,
            ])
        #expect(stage.home.sessions.first?.settings.isVisible == false)
    }

    @Test("A busy peer is tried again, a missing one is waited for, and then the exit code says which it was")
    func sendRetries() async throws {
        let ada = try peer("ada", 1)
        let stage = try sending { _, attempt in
            attempt < 3 ? .refused(ada, .busy) : .finished(TransferResult(peer: ada, status: .verified))
        }
        #expect(await stage.run("send", "f", "--to", "ada") == 0)
        #expect(stage.home.node.commands.count == 3)
        #expect(await stage.run("send", "f", "--to", "nobody", "--wait", "2") == 3)
        #expect(stage.outLines.last == "failed\tnobody\t\tno-such-peer")
        #expect(stage.err.contains("Waiting up to 2 s for nobody.\n"))
        let declined = try sending { _, _ in .refused(ada, .declined) }
        #expect(await declined.run("send", "f", "--to", "ada") == 4)
        #expect(declined.outLines == ["declined\tada\t\(ada.id)\t"])
        #expect(declined.home.node.commands.count == 1)
    }

    @Test(
        "Mixed results, and those not whole, are 5",
        arguments: [
            (.partial, .changed, 5), (.failed, .diskFull, 5), (.declined, nil, 4), (.cancelled, nil, 5),
        ] as [(TransferStatus, TransferReason?, Int32)])
    func sendIncomplete(status: TransferStatus, reason: TransferReason?, code: Int32) async throws {
        let ada = try peer("ada", 1)
        let stage = try sending { reference, _ in
            .finished(TransferResult(peer: ada, status: reference.text == "ada" ? status : .verified, reason: reason))
        }
        #expect(await stage.run("send", "f", "--to", "ada") == code)
        let mixed = try sending { reference, _ in
            .finished(TransferResult(peer: ada, status: reference.text == "ada" ? status : .verified, reason: reason))
        }
        #expect(await mixed.run("send", "f", "--to", "ada", "--to", "bob b") == 5)
    }

    @Test("What had begun stays begun when the peer does not come back")
    func sendBegun() async throws {
        let ada = try peer("ada", 1)
        let stage = try sending { _, attempt in
            attempt == 1
                ? .finished(TransferResult(peer: ada, status: .failed, reason: .lost))
                : .failed(PeerConnectError(.noSuchPeer, "ada is not on this network."))
        }
        #expect(await stage.run("send", "f", "--to", "ada", "--wait", "2") == 5)
        #expect(stage.outLines == ["failed\tada\t\(ada.id)\tlost"])
        #expect(stage.home.node.commands.count == 3)
        let unanswered = try sending { _, _ in
            .finished(TransferResult(peer: ada, status: .failed, reason: .timeout))
        }
        #expect(await unanswered.run("send", "f", "--to", "ada") == 4)
    }

    @Test("A peer named twice gets the files once, and one that fails is told with its ID")
    func sendTwice() async throws {
        let ada = try peer("ada", 1)
        let stage = try sending { _, _ in .failed(PeerConnectError(.unreachable, "Nobody answers.")) }
        #expect(await stage.run("send", "f", "--to", "ada", "--to", ada.id.description, "--wait", "0") == 3)
        #expect(stage.outLines.count == 1)
        #expect(stage.outLines[0].hasSuffix("\t\(ada.id)\tunreachable"))
        #expect(stage.home.node.commands.count == 1)
        #expect(!stage.err.contains("Waiting"))
    }

    @Test(
        "Who could be meant by a name, or which ID to type instead, is told beside the rows", arguments: [false, true])
    func sendAdvice(isJSON: Bool) async throws {
        let bobs = [try peer("bob", 3), try peer("Bob", 4)]
        let stage = try sending { reference, _ in
            .failed(
                reference.text == "ada"
                    ? PeerConnectError(.ambiguous, "Several are called ada.", candidates: bobs)
                    : PeerConnectError(.wrongKey, "Another key.", hint: "Type \(bobs[0].id) instead."))
        }
        let json = isJSON ? ["--json"] : []
        let world = stage.world()
        #expect(await execute(["send", "f", "--to", "ada", "--to", "bob b", "--wait", "0"] + json, in: world) == 3)
        if isJSON {
            #expect(
                stage.out.contains(#""reason":"ambiguous","candidates":[{"id":"\#(bobs[0].id)","name":"bob"},{"id":"#))
            #expect(stage.out.contains(#""reason":"wrong-key","hint":"Type \#(bobs[0].id) instead."}"#))
        } else {
            #expect(
                stage.err.contains(
                    """
                    Several are called ada.
                      bob has the ID \(bobs[0].id).
                      Bob has the ID \(bobs[1].id).
                    Another key. Type \(bobs[0].id) instead.

                    """))
            #expect(stage.outLines.map { $0.split(separator: "\t").last } == ["ambiguous", "wrong-key"])
        }
    }

    private func received(_ status: TransferStatus) throws -> Stage {
        let ada = try peer("ada", 1), me = try peer("me", 9), transfer = TransferID(try digest(5))
        var snapshot = NodeSnapshot()
        snapshot.peers = [ListedPeer(peer: ada, number: 1, isBusy: false, kind: "chat", addresses: [])]
        let node = ScriptedSession(me: me, snapshot: snapshot)
        let summary = OfferSummary(name: "x", size: 1, files: 1)
        node.emit(
            .inviteReceived(number: 1, from: try peer("eve", 6), purpose: .file, offer: summary, known: .new),
            .inviteReceived(number: 2, from: ada, purpose: .chat, offer: nil, known: .known),
            .inviteReceived(number: 3, from: ada, purpose: .file, offer: summary, known: .known),
            .fileOffered(
                FileOffer(
                    number: 3, chat: try chatID(3), transfer: transfer, from: ada, to: [me], isMine: false,
                    summary: summary, line: nil)))
        if status == .verified {
            node.emit(
                .fileReceived(
                    ReceivedFiles(transfer: transfer, from: ada, paths: ["/d/x\ny"], size: 1, mended: [], skipped: [])))
        }
        node.emit(.fileDone(transfer: transfer, results: [TransferResult(peer: me, status: status)], line: nil))
        return Stage(home: ScriptedHome(node: node))
    }

    @Test("Receive takes files of those named only, prints the path, and leaves after one")
    func receive() async throws {
        let stage = try received(.verified)
        #expect(await stage.run("receive", "--from", "ada", "--once", "-0") == 0)
        #expect(stage.out == "/d/x\ny\0")
        #expect(stage.err.contains("Declined “x” from eve (\(try peer("eve", 6).id.short)): not one of --from.\n"))
        #expect(
            stage.home.node.commands == [
                "decline(Optional(PeerModel.ItemReference.number(1)))",
                "decline(Optional(PeerModel.ItemReference.number(2)))",
                "accept(Optional(PeerModel.ItemReference.number(3)))",
            ])
        #expect(stage.home.sessions.first?.settings.kind == .inbox)
        #expect(await (try received(.failed)).run("receive", "--from", "ada", "--once") == 5)
    }

    @Test("What is declined is told once for each peer and offer, with the way to take it")
    func receiveDeclines() async throws {
        let node = ScriptedSession(me: try peer("me", 9)), sam = try peer("sam", 6)
        let summary = OfferSummary(name: "g1.log", size: 1, files: 1)
        for number in 1...2 {
            node.emit(.inviteReceived(number: number, from: sam, purpose: .file, offer: summary, known: .new))
        }
        let world = Stage(home: ScriptedHome(node: node))
        let sleep: @Sendable (Duration) async throws -> Void = { _ in
            while node.commands.count < 2 { try await Task.sleep(for: .milliseconds(1)) }
        }
        #expect(await execute(["receive", "--wait", "5"], in: world.world(sleep: sleep)) == 3)
        let way = "not trusted; peerconnect peers trust \(sam.id), or --accept all."
        #expect(
            world.err.hasSuffix(
                "Declined “g1.log” from sam (\(sam.id.short)): \(way)\nNothing was taken in that time.\n"))
        #expect(world.err.components(separatedBy: "Declined").count == 2)
    }

    @Test("Receive gives up when nothing is offered within the wait, and when a sender is not known")
    func receiveNothing() async throws {
        let stage = Stage(home: ScriptedHome(node: ScriptedSession(me: try peer("me", 9))))
        #expect(await stage.run("receive", "--accept", "all", "--wait", "5") == 3)
        #expect(stage.home.sessions.first?.settings.files == .all)
        let other = Stage(home: ScriptedHome(node: ScriptedSession(me: try peer("me", 9))))
        #expect(await other.run("receive", "--from", "ada") == 3)
    }
}

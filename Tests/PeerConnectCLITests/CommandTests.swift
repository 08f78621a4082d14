import PeerModel
import Testing

@testable import PeerConnectCLI

@Suite(.timeLimit(.minutes(5)))
struct CommandLineTests {
    private func stage() throws -> Stage { Stage(home: ScriptedHome(node: ScriptedSession(me: try peer("me", 9)))) }

    @Test(
        "A wrong command line is one line on standard error and exits 2, before anything is opened",
        arguments: [
            (["sedn"], "unknown command sedn; did you mean send?"),
            (["chat", "x"], "chat takes no argument x"),
            (["chat", "--accept", "none"], "--accept takes ask, trusted, all"),
            (["chat", "--max-peers", "65"], "--max-peers takes a number from 1 to 64"),
            (
                ["chat", "--max-peers", "1", "--invite", "a", "--invite", "b"],
                "--invite names 2 peers, 1 fit in a chat; see --max-peers"
            ),
            (["--port", "65536"], "--port takes a number from 0 to 65535"),
            (["--name", "  "], "a name needs at least one character"),
            (["--home="], "--home needs a folder"),
            (["browse", "--for", "x"], "--for x is not a time; write seconds, or 90s, 10m, 8h"),
            (["browse", "--for", "1", "--watch"], "--watch has no end, so --for is not for it"),
            (["send", "--to", "ada"], "send needs a path; peerconnect send --help"),
            (["send", "a"], "send needs a peer; name it with --to PEER"),
            (["send", "a", "--to-file", "nolist"], "--to-file nolist cannot be read"),
            (["send", "missing", "--to", "ada"], "missing cannot be opened"),
            (["receive", "--accept", "all", "--from", "ada"], "--accept and --from exclude each other"),
            (
                ["chat", "--invite", "@friends"],
                "there is no group @friends; groups are in the settings; peerconnect config shows them"
            ),
            (["peers", "frobnicate"], "peers does not know frobnicate"),
            (["peers", "trust"], "peers trust takes at least one peer"),
            (["peers", "list", "x"], "peers list takes nothing more"),
            (["history", "sho"], "history does not know sho; did you mean show?"),
            (["history", "show"], "history show takes one chat"),
            (["history", "clear"], "history clear takes chats, or --all"),
            (["history", "clear", "a"], "history clear needs --yes where nobody can be asked"),
            (["history", "list", "--yes"], "history list takes neither --all nor --yes"),
            (["config", "--accept", "none"], "--accept takes ask, trusted, all"),
            (["id", "frobnicate"], "id does not know frobnicate"),
            (["id", "new"], "id new takes one name; quote a name with blanks"),
        ])
    func usage(line: [String], message: String) async throws {
        let stage = try stage()
        #expect(await execute(line, in: stage.world()) == 2)
        #expect(stage.err == "peerconnect: \(message)\n")
        #expect(stage.out == "")
        #expect(stage.home.sessions.isEmpty)
    }

    @Test("Help and version go to standard output and exit 0")
    func help() async throws {
        for (line, text) in [(["--help"], overview), (["browse", "-h"], browseHelp), (["-V"], "peerconnect 0.1.0\n")] {
            let stage = try stage()
            #expect(await execute(line, in: stage.world()) == 0)
            #expect(stage.out == text)
            #expect(stage.err == "")
        }
    }

    @Test(
        "An error at the start is said once and gives its exit code",
        arguments: [
            (.locked, 6), (.cannotStart, 6), (.internal, 1),
        ] as [(PeerConnectError.Code, Int32)])
    func startFails(code: PeerConnectError.Code, status: Int32) async throws {
        let error = PeerConnectError(code, "It failed.", hint: "Try again.")
        let node = ScriptedSession(me: try peer("me", 9), startError: error)
        let stage = Stage(home: ScriptedHome(node: node))
        #expect(await stage.run("chat") == status)
        #expect(stage.err == "It failed.\n  Try again.\n")
        #expect(stage.out == "")
        #expect(node.isStopped)
        let other = Stage(home: ScriptedHome(node: ScriptedSession(me: try peer("me", 9), startError: error)))
        #expect(await other.run("browse", "--json") == status)
        #expect(other.outLines.count == 2)
        #expect(other.outLines.first?.hasPrefix(#"{"event":"error""#) == true)
        #expect(other.outLines.last?.hasSuffix(#""code":\#(status)}"#) == true)
    }

    @Test("A name for one run is not asked for and not made current")
    func nameForOneRun() async throws {
        let stage = try stage()
        #expect(await stage.run("chat", "--name", "Eve", isTerminal: true) == 0)
        #expect(stage.home.sessions.map(\.name) == ["Eve"])
        #expect(stage.home.identities().isEmpty)
    }

    @Test("Settings follow the options")
    func settings() async throws {
        let stage = try stage()
        _ = await stage.run(
            "chat", "--port", "0", "--interface", "a", "--interface=b", "--discovery", "off", "--accept", "all",
            "--accept-files", "none", "--max-file-size", "1M", "--max-peers", "3", "--into", "x")
        let settings = try #require(stage.home.sessions.first?.settings)
        #expect(settings.port == .exactly(0))
        #expect(settings.interfaces == ["a", "b"])
        #expect(settings.discovery == .off)
        #expect(settings.invitations == .all)
        #expect(settings.files == .none)
        #expect(settings.maximumFileSize == 1 << 20)
        #expect(settings.maximumPeers == 3)
        #expect(settings.downloads == "/work dir/x")
        #expect(settings.isVisible)
    }

    @Test("Identities are listed, made and told apart")
    func identities() async throws {
        let stage = try stage()
        #expect(await stage.run("id") == 3)
        #expect(await stage.run("id", "new", "Ada L") == 0)
        #expect(stage.out == "Ada L\t\(stage.home.node.me.id)\n")
        #expect(await stage.run("id", "list", "--json") == 0)
        #expect(stage.outLines[1].hasSuffix(#""id":"\#(stage.home.node.me.id)","name":"Ada L","current":false}"#))
        #expect(await stage.run("id", "use", "Bob") == 2)
    }

    private let overview = """
        usage: peerconnect [OPTIONS] [COMMAND] [ARGUMENTS]

        Finds people on this network, chats with them and sends them files, without a server.

        commands:
          chat     chat with people on this network
          browse   print who is there
          send     send files and folders
          receive  take files, never asking
          history  show, search and clear the stored chats
          id       show and change own identities
          peers    show, trust and block the peers you know
          config   show the settings and where each comes from
          doctor   say why peers may not be visible or reachable

        options of every command:
          --home DIR                  keep everything below DIR, also PEERCONNECT_HOME
          --name NAME                 display name, and so the identity, for this run
          --json                      standard output is one JSON object per line
          --plain                     lines only, also PEERCONNECT_PLAIN; implied off a terminal
          --color auto|always|never   colour at a terminal; NO_COLOR is honoured
          --port N                    listen on exactly this port; 0 is any
          --interface IF              use only this network interface; repeatable
          --discovery auto|daemon|embedded|off
                                      how peers are found
          -h, --help                  show this help
          -V, --version               show the version
          -v, --verbose               say more on standard error; in a live chat, in a log

        `peerconnect` alone is `peerconnect chat`. `peerconnect COMMAND --help` says more.
        T is seconds, or 90s, 10m, 8h. SIZE is bytes, or 500K, 20M, 4G.
        PEER is an ID, the start of one (8 characters or more), a name, an address, or ID@address.
        @GROUP is a list of IDs in the settings.

        """

    private let browseHelp = """
        usage: peerconnect browse [--for T] [--watch]

        print who is there

        Prints name, short ID, state and first address of each peer, separated by tabs.
        The exit code is 6 when nobody could be looked for, and 0 for a list that is empty.

        options:
          --for T  how long to look, 3 s unless said otherwise
          --watch  keep watching, and tell of changes too

        options of every command:
          --home DIR                  keep everything below DIR, also PEERCONNECT_HOME
          --name NAME                 display name, and so the identity, for this run
          --json                      standard output is one JSON object per line
          --plain                     lines only, also PEERCONNECT_PLAIN; implied off a terminal
          --color auto|always|never   colour at a terminal; NO_COLOR is honoured
          --port N                    listen on exactly this port; 0 is any
          --interface IF              use only this network interface; repeatable
          --discovery auto|daemon|embedded|off
                                      how peers are found
          -h, --help                  show this help
          -V, --version               show the version
          -v, --verbose               say more on standard error; in a live chat, in a log

        """
}

@Suite(.timeLimit(.minutes(5)))
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
                    number: 3, transfer: transfer, from: ada, to: [me], isMine: false, summary: summary, line: nil)))
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
        #expect(
            stage.home.node.commands == [
                "decline(Optional(PeerModel.ItemReference.number(1)))",
                "decline(Optional(PeerModel.ItemReference.number(2)))",
                "accept(Optional(PeerModel.ItemReference.number(3)))",
            ])
        #expect(stage.home.sessions.first?.settings.kind == .inbox)
        #expect(await (try received(.failed)).run("receive", "--from", "ada", "--once") == 5)
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

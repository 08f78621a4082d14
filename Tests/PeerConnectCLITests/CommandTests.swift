import PeerModel
import Testing

@testable import PeerConnectCLI

@Suite(.timeLimit(.minutes(8)))
struct CommandLineTests {
    private func stage() throws -> Stage { Stage(home: ScriptedHome(node: ScriptedSession(me: try peer("me", 9)))) }

    @Test(
        "A wrong command line is one line on standard error and exits 2, before anything is opened",
        arguments: [
            (["sedn"], "unknown command sedn; did you mean send?"),
            (["chat", "x"], "chat takes no argument x; peerconnect chat --help shows what it takes"),
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
            (
                ["send", "a", "--to-file", "nolist"],
                "--to-file nolist cannot be read: no such file or directory; it holds one peer a line"
            ),
            (
                ["send", "missing", "--to", "ada"],
                "missing cannot be opened: no such file or directory; check its spelling and its rights"
            ),
            (["receive", "--accept", "all", "--from", "ada"], "--accept and --from exclude each other"),
            (
                ["chat", "--invite", "@friends"],
                "there is no group @friends; groups are in the settings; peerconnect config shows them"
            ),
            (
                ["peers", "frobnicate"],
                "peers does not know frobnicate; it knows list, verify, trust, untrust, block, unblock and forget"
            ),
            (["peers", "trust"], "peers trust takes at least one peer"),
            (["peers", "list", "x"], "peers list takes nothing more"),
            (["history", "sho"], "history does not know sho; did you mean show?"),
            (["history", "show"], "history show takes one chat"),
            (["history", "clear"], "history clear takes chats, or --all"),
            (["history", "clear", "a"], "history clear needs --yes where nobody can be asked"),
            (["history", "list", "--yes"], "history list takes neither --all nor --yes"),
            (["config", "--accept", "none"], "--accept takes ask, trusted, all"),
            (["id", "frobnicate"], "id does not know frobnicate; it knows show, list, new, use and rename"),
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
        for (line, text) in [
            (["--help"], overview), (["browse", "-h"], browseHelp), (["help", "browse"], browseHelp),
            (["-V"], "peerconnect 0.1.0\n"),
        ] {
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
          chat       chat with people on this network
          browse     print who is there
          send       send files and folders
          receive    take files, never asking
          history    show, search and clear the stored chats
          id         show and change own identities
          peers      show, trust and block the peers you know
          transfers  show and remove what is unfinished
          config     show the settings and where each comes from
          doctor     say why peers may not be visible or reachable
          help       show this help, or that of a command
          version    show the version

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

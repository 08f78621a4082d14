import Foundation
import PeerModel
import Testing

@testable import PeerConnectCLI

@Suite(.timeLimit(.minutes(8)))
struct SettingsTests {
    private func stage(_ settings: String?) throws -> Stage {
        Stage(home: ScriptedHome(node: ScriptedSession(me: try peer("me", 9)), settings: settings))
    }

    @Test("Settings hold where no option says otherwise")
    func settings() async throws {
        let text = """
            { // mine
              accept: 'trusted', "accept-files": "none", "max-file-size": '20M', 'max-peers': 3, port: 0,
              interface: 'eth0', discovery: "off", into: '/inbox',
            }
            """
        let stage = try stage(text)
        _ = await stage.run("chat")
        let settings = try #require(stage.home.sessions.first?.settings)
        #expect(settings.invitations == .trusted)
        #expect(settings.files == .none)
        #expect(settings.maximumFileSize == 20 << 20)
        #expect(settings.maximumPeers == 3)
        #expect(settings.port == .exactly(0))
        #expect(settings.interfaces == ["eth0"])
        #expect(settings.discovery == .off)
        #expect(settings.downloads == "/inbox")
        _ = await stage.run("chat", "--accept", "all", "--max-peers=9", "--into", "x", "--interface", "a")
        let typed = try #require(stage.home.sessions.last?.settings)
        #expect(typed.invitations == .all)
        #expect(typed.files == .none)
        #expect(typed.maximumPeers == 9)
        #expect(typed.downloads == "/work dir/x")
        #expect(typed.interfaces == ["a"])
    }

    @Test("What a chat accepts says nothing about what receive takes")
    func receive() async throws {
        let stage = try stage("{accept: 'all', 'accept-files': 'all'}")
        _ = await stage.run("receive", "--wait", "1")
        #expect(stage.home.sessions.first?.settings.files == .trusted)
    }

    @Test(
        "A broken file is an error with its line: the program does not start, and nothing is made",
        arguments: [
            ("{a:1}", "line 1: there is no setting “a”."), ("{", "line 1: the name of a setting is missing."),
            ("{\n\"acept\": 'all'}", "line 2: there is no setting “acept”; did you mean “accept”?"),
            ("{plain: 'yes'}", "line 1: “plain” takes true or false."),
            ("{accept:\n'none'}", "line 2: “accept” takes ask, trusted, all."),
            ("[]", "line 1: the settings are not in braces"),
            ("{port: 70000}", "line 1: “port” takes a number from 0 to 65535."),
            ("{port: -1}", "“port” takes a number"),
            ("{'max-file-size': 'x'}", "“max-file-size” x is not a size."),
            ("{into: 'x'}", "“into” takes an absolute path"),
            ("{interface: [1]}", "“interface” takes texts in quotes"), ("{name: 'Ada'}", "there is no setting “name”"),
            ("{'history-size': '10K'}", "“history-size” takes at least 1M."),
            ("{'history-days': 0}", "“history-days” takes a number from 1 to 36500."),
            ("{groups: {a: ['x']}}", "the group “a” takes full IDs"), ("{groups: []}", "“groups” takes names"),
        ])
    func broken(text: String, message: String) async throws {
        for command in ["chat", "browse", "config"] {
            let stage = try stage(text)
            #expect(await stage.run(command) == 6)
            #expect(stage.err.contains(message), "\(stage.err)")
            #expect(stage.err.contains("/config/config.json5, line "))
            #expect(stage.home.sessions.isEmpty)
            #expect(!FileManager.default.fileExists(atPath: stage.home.folder))
        }
        let stage = try stage(text)
        #expect(await stage.run("peers") == 0, "what needs no settings goes on")
        let json = try self.stage(text)
        #expect(await json.run("chat", "--json") == 6)
        #expect(
            json.outLines.map { $0.contains(#""event":"error""#) || $0.contains(#""event":"exit""#) } == [true, true])
    }

    @Test("A broken file is named with its line by the real program's folders too, and stays as it is, byte for byte")
    func leftAlone() async throws {
        let stage = try stage(nil), folder = stage.home.folder
        try FileManager.default.createDirectory(atPath: folder + "/config", withIntermediateDirectories: true)
        let path = folder + "/config/config.json5", text = Data("{ // mine\n  port: 27182,\n  accept: 'nobody'\n}".utf8)
        try text.write(to: URL(filePath: path))
        for command in ["config", "chat", "receive", "browse"] {
            var world = stage.world()
            world.openHome = { home throws(PeerConnectError) in
                try StoredHome(below: folder, environment: [:]) { _, _ throws(PeerConnectError) in
                    throw PeerConnectError(.internal, "nothing is started")
                }
            }
            #expect(await execute([command], in: world) == 6)
        }
        let message = "\(path), line 3: “accept” takes ask, trusted, all."
        #expect(stage.err == String(repeating: "\(message)\n  Mend the file, or move it away.\n", count: 4))
        #expect(try Data(contentsOf: URL(filePath: path)) == text)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["config"])
    }

    @Test("Settings of the history reach it: it is kept within their size")
    func historySize() async throws {
        let me = try peer("me", 9), ada = try peer("ada", 1), chat = try chatID(3)
        var found: [Int] = []
        for settings in ["{}", "{'history-size': '1M', 'history-days': 36500}"] {
            let node = ScriptedSession(me: me), home = ScriptedHome(node: node, settings: settings)
            node.emit(.chatStarted(chat: chat, role: .host, host: me, members: [ada]))
            for seq in 1...3000 as ClosedRange<UInt64> {
                let text = String(repeating: "x\(seq) ", count: 50)
                node.emit(
                    .message(ChatMessage(chat: chat, seq: seq, from: ada, text: text, sent: 0, ref: nil, line: nil)))
            }
            #expect(await Stage(home: home).run("chat") == 0)
            let list = Stage(home: ScriptedHome(node: ScriptedSession(me: me), in: home))
            #expect(await list.run("history", "search", "x3000") == 0)
            #expect(list.outLines.count == 1)
            let all = Stage(home: ScriptedHome(node: ScriptedSession(me: me), in: home))
            _ = await all.run("history", "search", "x")
            found.append(all.outLines.count)
        }
        #expect(found[0] == 3000 && found[1] < 3000 && found[1] > 300)
    }

    @Test("The settings are shown with where each comes from")
    func config() async throws {
        let ada = try peer("ada", 1).id
        let stage = try stage(
            "{history: false, bell: false, port: 4000, interface: ['a', 'b'], groups: {us: ['\(ada)']}}")
        #expect(await stage.run("config", "--max-peers", "3") == 0)
        #expect(
            stage.outLines == [
                "history\tfalse\tfile", "history-size\t268435456\tdefault", "history-days\t-\tdefault",
                "into\t/downloads\tdefault", "accept\task\tdefault",
                "accept-files\task\tdefault", "max-file-size\t-\tdefault", "max-peers\t3\toption",
                "max-chats\t1\tdefault", "port\t4000\tfile",
                "interface\ta b\tfile", "discovery\tauto\tdefault", "plain\tfalse\tdefault",
                "hold\tfalse\tdefault", "bell\tfalse\tfile", "@us\t\(ada)\tfile",
            ])
        let json = try self.stage(nil)
        var world = json.world()
        world.environment = ["PEERCONNECT_PLAIN": "1"]
        #expect(await execute(["config", "--json", "--into", "x", "--max-file-size", "1K"], in: world) == 0)
        #expect(json.out.contains(#""name":"into","value":"/work dir/x","source":"option"}"#))
        #expect(json.out.contains(#""name":"max-file-size","value":1024,"source":"option"}"#))
        #expect(json.out.contains(#""name":"plain","value":true,"source":"environment"}"#))
        #expect(json.out.contains(#""name":"interface","value":[],"source":"default"}"#))
    }

    @Test("A group stands for its members, on the command line and at the prompt")
    func groups() async throws {
        let ada = try peer("ada", 1).id, bob = try peer("bob", 2).id
        let stage = try stage("{groups: {'best friends': ['\(ada)', '\(bob)']}}")
        let node = stage.home.node
        _ = await stage.run("chat", input: ["/invite @\"best friends\""]) {
            node.emit(.inviteDone(chat: nil, answers: [], line: 1))
        }
        let invited = #"invite([PeerModel.PeerReference(text: "\#(ada)"), PeerModel.PeerReference(text: "\#(bob)")])"#
        #expect(stage.home.node.commands == [invited])
        #expect(await stage.run("send", "f", "--to", "@best friends", "--wait", "0") == 3)
        #expect(stage.outLines.filter { $0.hasPrefix("failed\t") }.count == 2)
    }

    @Test("The commented default file is read, and says what holds without it")
    func defaultFile() throws {
        let path = URL(filePath: #filePath).deletingLastPathComponent().path + "/../../Config/config.json5"
        let text = try String(contentsOfFile: path, encoding: .utf8)
        #expect(try SettingsFile(text, path: path).entries.isEmpty)
        // Each setting is there, behind a comment sign.
        let live = text.replacing("  // \"", with: "  \"").replacing("  // ", with: "  ///")
        let file = try SettingsFile(live, path: path)
        #expect(Set(file.entries.keys) == Set(Setting.all.map(\.name)))
        for setting in Setting.all {
            if let byDefault = setting.byDefault, byDefault != "auto" || setting.name == "discovery" {
                #expect(file.entries[setting.name]?.values == [byDefault], "\(setting.name)")
            }
        }
    }
}

import PeerModel
import Testing

@testable import PeerLink

@Suite("Folders come from --home, PEERCONNECT_HOME or the XDG variables")
struct FoldersTests {
    @Test("Without any variable but HOME they are the defaults")
    func defaults() throws {
        let folders = try Folders(home: nil, environment: ["HOME": "/home/ada/"])
        #expect(folders.config == "/home/ada/.config/peerconnect")
        #expect(folders.data == "/home/ada/.local/share/peerconnect")
        #expect(folders.state == "/home/ada/.local/state/peerconnect")
        #expect(folders.cache == "/home/ada/.cache/peerconnect")
        #expect(folders.downloads == "/home/ada/Downloads")
    }

    @Test("Absolute XDG variables count, relative and empty ones do not")
    func variables() throws {
        let folders = try Folders(
            home: nil,
            environment: [
                "HOME": "/home/ada", "XDG_CONFIG_HOME": "/c", "XDG_DATA_HOME": "relative", "XDG_STATE_HOME": "",
                "XDG_CACHE_HOME": "/k/", "XDG_DOWNLOAD_DIR": "/d", "PEERCONNECT_HOME": "",
            ])
        #expect(folders.config == "/c/peerconnect")
        #expect(folders.data == "/home/ada/.local/share/peerconnect")
        #expect(folders.state == "/home/ada/.local/state/peerconnect")
        #expect(folders.cache == "/k/peerconnect")
        #expect(folders.downloads == "/d")
    }

    @Test("An absolute folder for data counts too")
    func data() throws {
        let environment = ["HOME": "/home/ada", "XDG_DATA_HOME": "/data/", "XDG_STATE_HOME": "/s"]
        let folders = try Folders(home: nil, environment: environment)
        #expect(folders.data == "/data/peerconnect" && folders.state == "/s/peerconnect")
        #expect(folders.config == "/home/ada/.config/peerconnect")
    }

    @Test("--home wins over PEERCONNECT_HOME, which wins over the XDG variables, and holds everything")
    func home() throws {
        let environment = ["HOME": "/home/ada", "XDG_DATA_HOME": "/data", "PEERCONNECT_HOME": "/variable"]
        #expect(try Folders(home: nil, environment: environment).data == "/variable/data")
        let folders = try Folders(home: "/option/", environment: environment)
        #expect(folders.config == "/option/config")
        #expect(folders.data == "/option/data")
        #expect(folders.state == "/option/state")
        #expect(folders.cache == "/option/cache")
        #expect(folders.downloads == "/option/downloads")
        #expect(try Folders(home: "here", environment: [:]).data.hasSuffix("/here/data"))
        #expect(try Folders(home: "here", environment: [:]).data.hasPrefix("/"))
        let error = #expect(throws: PeerConnectError.self) { try Folders(home: "", environment: environment) }
        #expect(error?.code == .usage)
    }

    @Test(
        "The downloads folder is read from user-dirs.dirs as a shell would",
        arguments: [
            ("XDG_DOWNLOAD_DIR=\"$HOME/Téléchargements\"\n", "/h/Téléchargements"),
            ("# comment\n XDG_DOWNLOAD_DIR=\"/mnt/a \\\"b\\\"\"\nXDG_MUSIC_DIR=\"/m\"", "/mnt/a \"b\""),
            ("XDG_DOWNLOAD_DIR=\"/one\"\nXDG_DOWNLOAD_DIR=\"/two/\"", "/two"),
            ("XDG_DOWNLOAD_DIR=\"$HOME/\"", nil),
            ("XDG_DOWNLOAD_DIR=\"relative\"", nil),
            ("XDG_DOWNLOAD_DIR=\"/open", nil),
            ("", nil),
        ] as [(String, String?)])
    func userDirectories(text: String, expected: String?) {
        #expect(Folders.downloads(inUserDirectories: text, home: "/h") == expected)
    }

    @Test("The file of user folders is looked for beside the other settings")
    func userDirectoriesFile() throws {
        let home = try ScratchHome()
        try home.write(home.path + "/user-dirs.dirs", "XDG_DOWNLOAD_DIR=\"$HOME/in\"\n".utf8)
        let folders = try Folders(home: nil, environment: ["HOME": "/h", "XDG_CONFIG_HOME": home.path])
        #expect(folders.downloads == "/h/in")
    }
}

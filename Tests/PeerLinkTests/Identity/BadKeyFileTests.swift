import Glibc
import PeerModel
import PeerTLS
import Testing

@testable import PeerLink

@Suite("A key file that cannot be trusted is an error that names it, and never a new identity")
struct BadKeyFileTests {
    let home: ScratchHome
    let ada: DisplayName
    let identity: LocalIdentity
    var file: String { home.keyFile(identity.id) }

    init() throws {
        home = try ScratchHome()
        ada = try DisplayName("ada")
        identity = try home.store.reusable(displayName: ada)
        try home.store.use(ada)
    }

    /// Every way to ask for the identity gives this error, and afterwards the folder holds what it held before.
    func expectRefusal(_ error: IdentityError, sourceLocation: SourceLocation = #_sourceLocation) {
        let before = home.names()
        #expect(throws: error, sourceLocation: sourceLocation) { try home.store.reusable(displayName: ada) }
        #expect(throws: error, sourceLocation: sourceLocation) { try home.store.new(ada) }
        #expect(throws: error, sourceLocation: sourceLocation) { try home.store.list() }
        #expect(throws: error, sourceLocation: sourceLocation) { try home.store.use(ada) }
        #expect(home.names() == before, sourceLocation: sourceLocation)
        #expect(error.publicError.code == .cannotStart, sourceLocation: sourceLocation)
        #expect(error.publicError.message.contains(home.identities), sourceLocation: sourceLocation)
    }

    @Test("Truncated at any length")
    func truncated() throws {
        let whole = try home.read(file)
        for length in stride(from: 0, to: whole.count - 1, by: 7) {
            try home.write(file, whole.prefix(length))
            #expect(throws: IdentityError.damaged(file: file)) { try home.store.reusable(displayName: ada) }
        }
        expectRefusal(.damaged(file: file))
        #expect(throws: IdentityError.damaged(file: file)) { try home.store.current() }
    }

    @Test(
        "Not a key file",
        arguments: [
            "", "garbage", "Display-Name: ada\n", "Display-Name: \n", "Display-Name: %zz\n", "Display-Name: %FF\n",
        ])
    func garbage(text: String) throws {
        let pem = text.hasPrefix("Display-Name: ") && text.contains("%") ? identity.key.pem() : []
        try home.write(file, Array(text.utf8) + pem)
        expectRefusal(.damaged(file: file))
    }

    @Test("Longer than any key file")
    func tooLong() throws {
        try home.write(file, try home.read(file) + [UInt8](repeating: 10, count: 5000))
        expectRefusal(.damaged(file: file))
    }

    @Test("Readable or writable by the group or by others", arguments: [0o640, 0o604, 0o620, 0o601] as [mode_t])
    func notPrivate(mode: mode_t) throws {
        chmod(file, mode)
        expectRefusal(.notPrivate(path: file))
        #expect(try home.mode(file) == mode)
    }

    @Test("In a folder that others may enter")
    func openFolder() throws {
        chmod(home.identities, 0o755)
        expectRefusal(.notPrivate(path: home.identities))
    }

    @Test("Named for another key")
    func misnamed() throws {
        let other = LocalIdentity.unique(displayName: ada).id
        rename(file, home.keyFile(other))
        expectRefusal(.misnamed(file: home.keyFile(other), holds: identity.id))
        #expect(throws: IdentityError.missing(file: file)) { try home.store.current() }
    }

    @Test("Holding another key")
    func otherKey() throws {
        let other = LocalIdentity.unique(displayName: ada)
        try home.write(file, KeyFile.encode(other))
        expectRefusal(.misnamed(file: file, holds: other.id))
    }

    @Test("A link, even to a good key file")
    func link() throws {
        let elsewhere = home.path + "/elsewhere.pem"
        rename(file, elsewhere)
        symlink(elsewhere, file)
        expectRefusal(.damaged(file: file))
    }

    @Test("A folder or a FIFO, which must not block")
    func otherTypes() throws {
        unlink(file)
        mkdir(file, 0o700)
        expectRefusal(.damaged(file: file))
        rmdir(file)
        mkfifo(file, 0o600)
        expectRefusal(.damaged(file: file))
    }

    @Test("Two files with one name")
    func duplicate() throws {
        let other = LocalIdentity.unique(displayName: ada)
        try home.write(home.keyFile(other.id), KeyFile.encode(other))
        let names = [identity.id, other.id].map { "\($0).pem" }.sorted()
        #expect(throws: IdentityError.duplicate(ada, files: names)) { try home.store.reusable(displayName: ada) }
        #expect(throws: IdentityError.duplicate(ada, files: names)) {
            try home.store.rename(ada, to: DisplayName("bob"))
        }
    }

    @Test("A bad file hurts only those who may have meant it")
    func otherDamaged() throws {
        let bob = try DisplayName("bob"), eve = try DisplayName("eve")
        let other = try home.store.reusable(displayName: bob)
        try home.write(file, [])
        #expect(try home.store.reusable(displayName: bob).id == other.id)
        #expect(throws: IdentityError.damaged(file: file)) { try home.store.reusable(displayName: eve) }
        #expect(throws: IdentityError.damaged(file: file)) { try home.store.rename(bob, to: eve) }
    }

    @Test("The current identity's file is gone, or the note which one is current is damaged")
    func current() throws {
        unlink(file)
        #expect(throws: IdentityError.missing(file: file)) { try home.store.current() }
        let note = home.folders.data + "/current"
        try home.write(note, "nobody\n".utf8)
        #expect(throws: IdentityError.damaged(file: note)) { try home.store.current() }
    }

    @Test("A folder that cannot be made or written names the folder", arguments: ["/dev/null", "/proc"])
    func unwritable(home: String) throws {
        let store = IdentityStore(folders: try Folders(home: home + "/x", environment: [:]))
        let error = #expect(throws: IdentityError.self) { try store.reusable(displayName: ada) }
        guard case .system(let path, _)? = error else {
            Issue.record("another error: \(String(describing: error))")
            return
        }
        #expect(path.hasPrefix(home))
        #expect(error?.publicError.code == .cannotStart)
    }

    @Test(
        "A read-only folder of identities is an error when a new one is needed",
        .enabled(if: geteuid() != 0, "root may write anywhere"))
    func readOnly() throws {
        chmod(home.identities, 0o500)
        defer { chmod(home.identities, 0o700) }
        #expect(try home.store.reusable(displayName: ada).id == identity.id)
        #expect(throws: IdentityError.self) { try home.store.reusable(displayName: DisplayName("bob")) }
    }

    @Test("What a killed writer left is cleaned up by the next one")
    func leftovers() throws {
        try home.write(home.identities + "/.new", [1, 2, 3])
        let other = try home.store.reusable(displayName: DisplayName("bob"))
        #expect(home.names() == ([".lock"] + [identity.id, other.id].map { "\($0).pem" }.sorted()))
    }
}

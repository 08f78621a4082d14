import Dispatch
import Glibc
import PeerModel
import PeerTLS
import Synchronization
import Testing

@testable import PeerLink

@Suite("Identities are stored by display name")
struct IdentityStoreTests {
    let home: ScratchHome
    let ada: DisplayName, bob: DisplayName

    init() throws {
        home = try ScratchHome()
        ada = try DisplayName("ada")
        bob = try DisplayName("bob")
    }

    @Test("The same name gives the same identity, from any store, and its key signs for the same public key")
    func sameName() throws {
        let first = try home.store.reusable(displayName: ada)
        let again = try home.store.reusable(displayName: ada)
        #expect(first.id == again.id)
        #expect(first.displayName == again.displayName)
        #expect(first.key.publicKey.isValid(signature: again.key.sign([1, 2, 3]), for: [1, 2, 3]))
    }

    @Test("Another name gives another identity, and going back gives the earlier one")
    func otherName() throws {
        let first = try home.store.reusable(displayName: ada)
        let other = try home.store.reusable(displayName: bob)
        #expect(first.id != other.id)
        #expect(try home.store.reusable(displayName: ada).id == first.id)
        #expect(try home.store.list().map(\.id) == [first.id, other.id])
    }

    @Test("Names that only look alike are different identities")
    func sameLook() throws {
        let composed = try home.store.reusable(displayName: DisplayName("\u{E9}"))
        let decomposed = try home.store.reusable(displayName: DisplayName("e\u{301}"))
        #expect(composed.id != decomposed.id)
    }

    @Test("A unique identity equals no other, even with the same name, and is not stored")
    func unique() throws {
        let stored = try home.store.reusable(displayName: ada)
        let one = LocalIdentity.unique(displayName: ada), two = LocalIdentity.unique(displayName: ada)
        #expect(Set([stored.id, one.id, two.id]).count == 3)
        #expect(try home.store.list().map(\.id) == [stored.id])
    }

    @Test("Another process gets the same identity, and this one gets those that the other made")
    func acrossProcesses() async throws {
        let mine = try home.store.reusable(displayName: ada)
        let path = home.path, expected = mine.id.description
        await #expect(processExitsWith: .success) { [path = path as String, expected = expected as String] in
            let store = IdentityStore(folders: try Folders(home: path, environment: [:]))
            let found = try store.reusable(displayName: try DisplayName("ada"))
            let made = try store.reusable(displayName: try DisplayName("bob"))
            guard found.id.description == expected, made.id != found.id else { exit(3) }
        }
        let listed = try home.store.list()
        #expect(listed.map(\.displayName) == [ada, bob])
        #expect(try home.store.reusable(displayName: bob).id == listed.last?.id)
        #expect(try home.store.list().count == 2)
    }

    @Test("Eight threads that ask for a new name at once all get the same identity", .timeLimit(.minutes(8)))
    func concurrentCreation() throws {
        for round in 1...40 {
            let name = try DisplayName("name \(round)"), store = home.store
            let found = Mutex<[Result<PeerID, any Error>]>([])
            DispatchQueue.concurrentPerform(iterations: 8) { _ in
                let result = Result { try store.reusable(displayName: name).id }
                found.withLock { $0.append(result) }
            }
            let ids = try found.withLock { $0 }.map { try $0.get() }
            #expect(ids.count == 8)
            #expect(Set(ids).count == 1)
        }
        #expect(try home.store.list().count == 40)
    }

    @Test("Processes that ask for a new name at once all get the same identity", .timeLimit(.minutes(8)))
    func concurrentProcesses() async throws {
        let path = home.path
        await withTaskGroup { group in
            for _ in 0..<3 {
                group.addTask {
                    await #expect(processExitsWith: .success) { [path = path as String] in
                        let store = IdentityStore(folders: try Folders(home: path, environment: [:]))
                        _ = try store.reusable(displayName: try DisplayName("ada"))
                    }
                }
            }
        }
        #expect(try home.store.list().map(\.displayName) == [ada])
    }

    @Test("The key file and its folder are the user's alone, whatever the umask, and nothing else is left there")
    func modes() async throws {
        let path = home.path
        await #expect(processExitsWith: .success) { [path = path as String] in
            umask(0)
            let store = IdentityStore(folders: try Folders(home: path, environment: [:]))
            _ = try store.reusable(displayName: try DisplayName("ada"))
        }
        let id = try home.store.reusable(displayName: ada).id
        #expect(try home.mode(home.folders.data) == 0o700)
        #expect(try home.mode(home.identities) == 0o700)
        #expect(try home.mode(home.keyFile(id)) == 0o600)
        #expect(home.names() == [".lock", "\(id).pem"])
    }

    @Test("Names of 63 bytes are stored whole, whatever characters they hold")
    func longNames() throws {
        for text in [
            String(repeating: "é", count: 31) + "x", "%41 = 100 % \u{7F8E}", String(repeating: "漢", count: 21),
        ] {
            let name = try DisplayName(text)
            let made = try home.store.reusable(displayName: name)
            let read = try home.store.list().first { $0.id == made.id }
            #expect(read?.displayName == name)
        }
        #expect(throws: DisplayName.Problem.tooLong(bytes: 64)) { try DisplayName(String(repeating: "é", count: 32)) }
    }

    @Test("Looking makes nothing")
    func reading() throws {
        #expect(try home.store.list().isEmpty)
        #expect(try home.store.current()?.id == nil)
        #expect(throws: IdentityError.unknownName(ada)) { try home.store.use(ada) }
        #expect(throws: IdentityError.unknownName(ada)) { try home.store.rename(ada, to: bob) }
        #expect(access(home.folders.data, F_OK) == -1)
    }

    @Test("A new identity is refused for a name that has one")
    func newName() throws {
        let made = try home.store.new(ada)
        #expect(throws: IdentityError.nameTaken(ada)) { try home.store.new(ada) }
        #expect(try home.store.reusable(displayName: ada).id == made.id)
    }

    @Test("The current identity is the one chosen last, in every process")
    func current() throws {
        _ = try home.store.reusable(displayName: ada)
        #expect(try home.store.current()?.id == nil)
        try home.store.use(ada)
        #expect(try home.store.current()?.displayName == ada)
        let other = try home.store.new(bob)
        #expect(try home.store.current()?.displayName == ada)
        try home.store.use(bob)
        #expect(try home.store.current()?.id == other.id)
    }

    @Test("Renaming keeps the key and the choice, and frees the old name")
    func rename() throws {
        let old = try home.store.reusable(displayName: ada)
        try home.store.use(ada)
        #expect(try home.store.rename(ada, to: bob).id == old.id)
        #expect(try home.store.current()?.displayName == bob)
        #expect(try home.store.reusable(displayName: bob).id == old.id)
        #expect(try home.store.reusable(displayName: ada).id != old.id)
    }

    @Test("Renaming to a name that has an identity is refused and changes nothing")
    func renameTaken() throws {
        let first = try home.store.reusable(displayName: ada)
        let second = try home.store.reusable(displayName: bob)
        #expect(throws: IdentityError.nameTaken(bob)) { try home.store.rename(ada, to: bob) }
        #expect(try home.store.rename(ada, to: ada).id == first.id)
        #expect(try home.store.list().map(\.id) == [first.id, second.id])
    }

    @Test("A second holder of a running identity is told who has it")
    func lock() throws {
        let identity = try home.store.reusable(displayName: ada)
        let other = try home.store.reusable(displayName: bob)
        try withExtendedLifetime(try home.store.lock(identity)) {
            let error = #expect(throws: IdentityError.self) { try home.store.lock(identity) }
            guard case .locked(ada, let host, Int(getpid()))? = error else {
                Issue.record("not locked by this process: \(String(describing: error))")
                return
            }
            #expect(!host.isEmpty)
            #expect(error?.publicError.code == .locked)
            #expect(error?.publicError.message.contains("\(getpid()) on \(host)") == true)
            _ = try home.store.lock(other)
        }
        _ = try home.store.lock(identity)
    }

    @Test("The proposed name is LOGIN@HOST without control characters, cut on a character border")
    func proposal() {
        #expect(Account.proposedName(login: "ada", host: "laptop").description == "ada@laptop")
        #expect(Account.proposedName(login: "a\u{7}da", host: "").description == "ada")
        #expect(Account.proposedName(login: " \n", host: "").description == "peer")
        let long = Account.proposedName(login: String(repeating: "漢", count: 20) + "ab", host: "laptop").description
        #expect(long == String(repeating: "漢", count: 20) + "ab@")
        #expect(
            Account.proposedName(login: "xy" + String(repeating: "漢", count: 21), host: "h").description.utf8.count
                == 62)
    }
}

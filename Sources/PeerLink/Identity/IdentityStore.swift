package import PeerModel
internal import PeerSystem

/// The user's own identities: one key pair a display name, as `<peer ID>.pem` in one private folder.
///
/// Nothing is kept in memory, so any number of these, in any processes, agree. A file that cannot be trusted is always
/// an error and never a reason to make a new identity. Only `reusable` and `new` make anything; all calls block on disk.
package struct IdentityStore: Sendable {
    private let data: String
    private var folder: String { data + "/identities" }
    private static let currentFile = "current"

    /// A store below the data folder, which need not exist yet.
    package init(folders: Folders) { data = folders.data }

    /// The identity of this name: the same in every process and after every restart; made when there is none yet.
    package func reusable(displayName: DisplayName) throws(IdentityError) -> LocalIdentity {
        if let found = try find(displayName) { return found }
        return try changing { folder throws(IdentityError) in
            // Another process may have been faster, so look again now that nobody else can write.
            if let found = try Self.find(displayName, in: Self.contents(of: folder)) { return found }
            return try Self.make(displayName, in: folder)
        }
    }

    /// Makes the identity of a name that has none.
    package func new(_ displayName: DisplayName) throws(IdentityError) -> LocalIdentity {
        try changing { folder throws(IdentityError) in
            let contents = try Self.contents(of: folder)
            guard try Self.find(displayName, in: contents) == nil else { throw .nameTaken(displayName) }
            return try Self.make(displayName, in: folder)
        }
    }

    /// All of them, by name; a single file that cannot be used makes this fail and name it.
    package func list() throws(IdentityError) -> [LocalIdentity] {
        guard let folder = try PrivateFolder.open(folder, isSecret: true) else { return [] }
        let contents = try Self.contents(of: folder)
        if let problem = contents.problem { throw problem }
        return contents.identities.sorted {
            ($0.displayName.description, $0.id) < ($1.displayName.description, $1.id)
        }
    }

    /// The identity used unless another is asked for; `nil` before one was chosen.
    package func current() throws(IdentityError) -> LocalIdentity? {
        guard let top = try PrivateFolder.open(data, isSecret: false),
            let bytes = try top.read(Self.currentFile, atMost: 64, isSecret: false)
        else { return nil }
        // The ID and not the name, so that a new name needs one write, and a lost key file is noticed.
        guard let id = PeerID(String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)) else {
            throw .damaged(file: data + "/" + Self.currentFile)
        }
        let name = "\(id)" + KeyFile.suffix
        guard let folder = try PrivateFolder.open(folder, isSecret: true), let found = try Self.load(name, from: folder)
        else { throw .missing(file: self.folder + "/" + name) }
        return found
    }

    /// Makes the identity of this name the current one; it must exist.
    @discardableResult
    package func use(_ displayName: DisplayName) throws(IdentityError) -> LocalIdentity {
        guard let identity = try find(displayName) else { throw .unknownName(displayName) }
        try changing { _ throws(IdentityError) in
            guard let top = try PrivateFolder.open(data, isSecret: false) else { throw .missing(file: data) }
            try top.write(Self.currentFile, Array("\(identity.id)\n".utf8))
        }
        return identity
    }

    /// Gives an identity another name, which must have none; its key stays, and its old name is free.
    @discardableResult
    package func rename(_ old: DisplayName, to new: DisplayName) throws(IdentityError) -> LocalIdentity {
        guard try find(old) != nil else { throw .unknownName(old) }
        return try changing { folder throws(IdentityError) in
            let contents = try Self.contents(of: folder)
            guard let identity = try Self.find(old, in: contents) else { throw .unknownName(old) }
            if old == new { return identity }
            guard try Self.find(new, in: contents) == nil else { throw .nameTaken(new) }
            let renamed = LocalIdentity(key: identity.key, displayName: new)
            try folder.write("\(renamed.id)" + KeyFile.suffix, KeyFile.encode(renamed))
            return renamed
        }
    }

    /// What a first run proposes: `LOGIN@HOST`, cut to 63 bytes on a character border.
    package static func proposedName() -> DisplayName {
        Account.proposedName(login: ThisProcess.login, host: ThisProcess.hostName)
    }

    /// Locks a stored identity for this process, as long as the result lives; another one gets `locked`.
    package func lock(_ identity: LocalIdentity) throws(IdentityError) -> IdentityLock {
        try IdentityLock(path: folder + "/\(identity.id).lock", displayName: identity.displayName)
    }

    private func find(_ name: DisplayName) throws(IdentityError) -> LocalIdentity? {
        guard let folder = try PrivateFolder.open(folder, isSecret: true) else { return nil }
        return try Self.find(name, in: Self.contents(of: folder))
    }

    /// Makes the folder if need be, and keeps all others from changing anything in it meanwhile.
    private func changing<Result>(
        _ body: (PrivateFolder) throws(IdentityError) -> Result
    ) throws(IdentityError) -> Result {
        try PrivateFolder.create(folder)
        guard let open = try PrivateFolder.open(folder, isSecret: true) else { throw .missing(file: folder) }
        return try open.withLock { () throws(IdentityError) in try body(open) }
    }
}

extension IdentityStore {
    private struct Contents {
        var identities: [LocalIdentity] = []
        /// The first file that cannot be used.
        var problem: IdentityError?
    }

    private static func contents(of folder: PrivateFolder) throws(IdentityError) -> Contents {
        var contents = Contents()
        for name in try folder.names().sorted() where name.hasSuffix(KeyFile.suffix) {
            do {
                if let identity = try load(name, from: folder) { contents.identities.append(identity) }
            } catch {
                contents.problem = contents.problem ?? error
            }
        }
        return contents
    }

    /// A bad file only hurts when the name is not found: then it may be the one that was asked for.
    private static func find(_ name: DisplayName, in contents: Contents) throws(IdentityError) -> LocalIdentity? {
        let matches = contents.identities.filter { $0.displayName == name }
        if matches.count > 1 { throw .duplicate(name, files: matches.map { "\($0.id)" + KeyFile.suffix }) }
        if matches.isEmpty, let problem = contents.problem { throw problem }
        return matches.first
    }

    private static func load(
        _ name: String, from folder: PrivateFolder
    ) throws(IdentityError) -> LocalIdentity? {
        guard let bytes = try folder.read(name, atMost: KeyFile.maximumSize, isSecret: true) else { return nil }
        let file = folder.path + "/" + name
        guard let identity = KeyFile.decode(bytes) else { throw .damaged(file: file) }
        guard name == "\(identity.id)" + KeyFile.suffix else { throw .misnamed(file: file, holds: identity.id) }
        return identity
    }

    private static func make(
        _ name: DisplayName, in folder: PrivateFolder
    ) throws(IdentityError) -> LocalIdentity {
        let identity = LocalIdentity.unique(displayName: name)
        try folder.write("\(identity.id)" + KeyFile.suffix, KeyFile.encode(identity))
        return identity
    }
}

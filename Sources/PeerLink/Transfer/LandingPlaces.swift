internal import PeerModel
internal import PeerSystem
internal import PeerWire

/// Where the entries of a landing transfer are: below its partial folder, and at the end under their final names.
struct LandingPlaces: Sendable {
    enum Top: Sendable {
        case folder(Folder)
        case file(OpenFile)
        /// By its name in the folder for received files.
        case named(String)
    }

    let into: Folder
    let partial: Folder
    /// The paths whose last component has another name here, and that name.
    private(set) var mended: [[UInt8]: String] = [:]
    /// By the top-level names of the manifest; those that have their final names.
    var landed: [[UInt8]: Top] = [:]
    /// Files that were dropped but are still passed on.
    var dropped: [Int: OpenFile] = [:]

    /// As many top-level entries, and dropped files, stay open; the rest is found by name.
    static let held = 128

    init(into: Folder, partial: Folder) {
        self.into = into
        self.partial = partial
    }

    mutating func mend(_ path: String, _ name: String) { mended[Array(path.utf8)] = name }

    /// The components under which `path` lies here.
    func components(_ path: String) -> [String] {
        let parts = path.utf8.split(separator: UInt8(ascii: "/"))
        guard !mended.isEmpty else { return parts.map { String(Substring($0)) } }
        return parts.map { part in
            mended[Array(path.utf8[..<part.endIndex])] ?? String(Substring(part))
        }
    }

    /// Opens a file for reading.
    func open(_ entry: Int, _ path: String) throws(SystemError) -> OpenFile {
        if let file = dropped[entry] { return file }
        var components = components(path)[...]
        var folder = partial
        switch landed[Array(path.utf8.prefix { $0 != UInt8(ascii: "/") })] {
        case .file(let file): return file
        case .folder(let top):
            folder = top
            components.removeFirst()
        case .named(let name):
            folder = into
            components[0] = name
        case nil: break
        }
        for name in components.dropLast() { folder = try folder.folder(name) }
        return try folder.openFile(components[components.endIndex - 1])
    }

    /// Opens the folder that `path` lies in, in the partial folder, and gives its name there.
    func parent(of path: String) throws(SystemError) -> (Folder, String) {
        let components = components(path)
        var folder = partial
        for name in components.dropLast() { folder = try folder.folder(name) }
        return (folder, components[components.endIndex - 1])
    }
}

import Glibc
import PeerSystem
import Testing

@Suite("Folders that files can be made in")
struct WritableTests {
    @Test("An existing folder, and one that can be made; not below a file, nor where there is no right")
    func writable() throws {
        var template = Array("/tmp/peerconnect-test-XXXXXX".utf8CString)
        #expect(mkdtemp(&template) != nil)
        let folder = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        defer { rmdir(folder) }
        #expect(Paths.whyNotWritable(folder) == nil)
        #expect(Paths.whyNotWritable(folder + "/") == nil)
        #expect(Paths.whyNotWritable(folder + "/new/er") == nil)
        let file = folder + "/file"
        close(open(file, O_CREAT | O_WRONLY, 0o600))
        defer { unlink(file) }
        #expect(Paths.whyNotWritable(file)?.code == ENOTDIR)
        #expect(Paths.whyNotWritable(file + "/below")?.code == ENOTDIR)
        chmod(folder, 0o500)
        #expect(geteuid() == 0 || Paths.whyNotWritable(folder)?.code == EACCES)
    }
}

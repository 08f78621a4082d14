import Foundation
import PeerConnect
import Testing

/// The program that the README shows, so that the compiler sees it; it is not run.
func readmeExample() async throws {
    let folders = try Folders(environment: ProcessInfo.processInfo.environment)
    let me = try Identity.reusable(displayName: DisplayName("Ada"), in: folders)
    let settings = NodeSettings(downloads: folders.downloads, spools: folders.cache + "/spools")
    let node = try Node(identity: me, settings: settings)
    _ = try await node.start()

    for await event in node.events {
        switch event {
        case .peerFound(let found): try await node.invite([PeerReference(found.peer.id.description)])
        case .chatStarted(let chat, .host, _, _, _): try await node.send(["holiday.jpg"], in: chat)
        case .message(let message): print(message.from.name, message.text)
        case .fileProgress(let progress): print(progress.bytes, "of", progress.size)
        case .fileDone(_, let results, _): print(results.map(\.status))
        default: break
        }
    }
}

@Suite("The README") struct ReadmeTests {
    @Test("Its example is the one that is compiled here")
    func example() throws {
        let here = URL(filePath: #filePath)
        let readme = here.deletingLastPathComponent().appending(path: "../../README.md").standardizedFileURL
        let shown = try #require(
            try String(contentsOf: readme, encoding: .utf8).firstMatch(of: /```swift\n(.*?)\n```/.dotMatchesNewlines()))
        let compiled = try String(contentsOf: here, encoding: .utf8)
        for line in shown.1.split(separator: "\n") { #expect(compiled.contains(line), "\(line)") }
    }
}

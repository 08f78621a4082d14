import PeerModel
import PeerWire
protocol PieceReading: Sendable { var length: UInt64 { get }; func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(TransferFailure) }
enum TransferFailure: Error { case diskFull, unreadable(String), unwritable(String), corrupt(String), changed
 var reason: TransferReason { .corrupt }; var text: String { "" } }
struct SkippedEntry: Sendable { let path: String; let why: String }
final class TransferSource: PieceReading { var length: UInt64 { 0 }; func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(TransferFailure) {}
 var manifest: (entries: [Int], x: Int) { ([], 0) }; var manifestBytes: [UInt8] { [] }; var totalSize: UInt64 { 0 }; var fileCount: Int { 0 }; var names: [String] { [] }; var skipped: [SkippedEntry] { [] }
 func changedEntries() -> [Int] { [] } }
enum SourceWalk { static func walk(paths: [String]) throws(PeerConnectError) -> TransferSource { TransferSource() } }
final class Spool: PieceReading { init(folder: String, length: UInt64) throws(TransferFailure) {}; var length: UInt64 { 0 }; func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(TransferFailure) {}
 func write(_ b: UnsafeRawBufferPointer, at: UInt64) throws(TransferFailure) {} }
struct Landed: Sendable { let paths: [String]; let mended: [String]; let skipped: [String]; let size: UInt64 }
final class Landing: PieceReading { init(folder: String, transfer: TransferID, offer: OfferBody) throws(TransferFailure) {}; var length: UInt64 { 0 }; func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(TransferFailure) {}
 func append(_ b: UnsafeRawBufferPointer) throws(TransferFailure) {}; func finish(dropping: [UInt32]) throws(TransferFailure) -> Landed { fatalError() }; func abandon() {} }
enum FreeSpace { static func isEnough(for: UInt64, at: String) -> Bool { true } }

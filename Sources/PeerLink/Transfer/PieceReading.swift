package import PeerModel
package import PeerSystem

/// The bytes of one transfer's stream, wherever they are kept; any number of threads may read at once.
package protocol PieceReading: Sendable {
    /// Bytes of the whole stream, manifest and files.
    var length: UInt64 { get }
    /// Fills the whole buffer from `offset` on, or throws; blocks.
    func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(TransferFailure)
}

/// Why the files of a transfer cannot be read or written here.
package enum TransferFailure: Error, Hashable, Sendable {
    /// Nothing is lost: the same bytes can be written again when there is room.
    case diskFull
    /// Files that are sent or passed on; with a sentence for people.
    case unreadable(String)
    /// The folder for received files; with a sentence for people.
    case unwritable(String)
    /// The bytes are not what was offered; with a sentence for people.
    case corrupt(String)
    /// The bytes are not what was signed, which who hands them over has to see itself; with a sentence for people.
    case unchecked(String)
    /// The sender signed an offer that does not say what is in it; with a sentence for people.
    case misleading(String)
    /// The files are no longer what was offered.
    case changed
    /// Their list, beside those of other transfers, takes more memory than it may.
    case tooLarge
    /// This peer does not want them any more.
    case givenUp

    /// A failed call of the kernel on a file that is written.
    package init(writing path: String, _ error: SystemError) {
        self =
            error.isDiskFull ? .diskFull : .unwritable("\(SafeText.line(path)) cannot be written: \(error.reason).")
    }

    /// The word for the result.
    package var reason: TransferReason {
        switch self {
        case .diskFull: .diskFull
        case .unreadable: .unreadable
        case .unwritable: .unwritable
        case .corrupt, .unchecked, .misleading: .corrupt
        case .changed: .changed
        case .tooLarge: .tooLarge
        case .givenUp: .left
        }
    }

    /// One sentence for people.
    package var text: String {
        switch self {
        case .diskFull: "The disk is full."
        case .unreadable(let text), .unwritable(let text): text
        case .corrupt(let text), .unchecked(let text), .misleading(let text): text
        case .changed: "The files changed while they were sent."
        case .tooLarge: "The list of the files is too long beside the others that are received."
        case .givenUp: "They were given up here."
        }
    }
}

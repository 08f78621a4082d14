/// A transfer that was interrupted, or is going on, as it lies in a folder for received files.
package struct UnfinishedTransfer: Sendable {
    /// `nil` when too little has come to know what it is.
    package let transfer: TransferID?
    /// Its top-level entries, folders with `/` behind; foreign text.
    package let names: [String]
    /// Bytes of all its files.
    package let size: UInt64
    /// How many of them are here and need not come again.
    package let here: UInt64
    /// When the last of them came, milliseconds since 1970.
    package let changed: Int64
    /// Whether some process receives it now.
    package let isGoingOn: Bool

    package init(
        transfer: TransferID?, names: [String], size: UInt64, here: UInt64, changed: Int64, isGoingOn: Bool
    ) {
        (self.transfer, self.names, self.size, self.here) = (transfer, names, size, here)
        (self.changed, self.isGoingOn) = (changed, isGoingOn)
    }
}

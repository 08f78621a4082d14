internal import CAvahi
internal import Synchronization

/// The library of the embedded back end, opened when it is first needed.
enum AvahiCore {
    /// `nil` when it is not installed.
    static let functions: PCCore? = {
        var core = PCCore()
        guard pc_core_open(&core) else { return nil }
        core.avahi_set_log_function { _, text in
            if let text { DiscoveryLog.write(String(cString: text)) }
        }
        return core
    }()

    static func failure(of server: OpaquePointer?) -> CInt {
        guard let server, let functions else { return CInt(AVAHI_ERR_BAD_STATE) }
        return functions.avahi_server_errno(server)
    }
}

/// What the back ends say about themselves, and Avahi's library inside this process, which would write to standard error.
package enum DiscoveryLog {
    private static let sink = Mutex<(@Sendable (String) -> Void)?>(nil)

    /// Gives its lines to `body`, for the whole process; without one they are dropped.
    ///
    /// Called on any thread.
    package static func set(_ body: (@Sendable (String) -> Void)?) { sink.withLock { $0 = body } }

    static func write(_ line: String) { sink.withLock { $0 }?(line) }
}

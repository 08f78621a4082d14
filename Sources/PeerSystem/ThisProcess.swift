internal import Glibc

/// Who and where this process is.
package enum ThisProcess {
    package static var id: Int { Int(getpid()) }

    /// Whether it runs as the superuser.
    package static var isRoot: Bool { geteuid() == 0 }

    /// Whether it is the first process of a container, for which signals have no default actions (pid_namespaces(7)).
    package static var isFirst: Bool { getpid() == 1 }

    package static var hostName: String {
        var buffer = [CChar](repeating: 0, count: 256)
        guard gethostname(&buffer, buffer.count - 1) == 0 else { return "localhost" }
        return String(cArray: buffer)
    }

    /// The login of the user this process runs as; from the environment when the system's list lacks that user, as it does
    /// in containers.
    package static var login: String {
        listed(\.pw_name) ?? variable("LOGNAME") ?? variable("USER") ?? "user"
    }

    /// The home folder in the system's list of users, for a service that starts without HOME.
    package static var home: String? { listed(\.pw_dir) }

    /// What the system's list of users says of the one this process runs as.
    private static func listed(_ field: KeyPath<passwd, UnsafeMutablePointer<CChar>?>) -> String? {
        var entry = passwd()
        var found: UnsafeMutablePointer<passwd>?
        var buffer = [CChar](repeating: 0, count: 16 << 10)
        return buffer.withUnsafeMutableBufferPointer { buffer in
            // The text lies in the buffer, so it is copied before that goes.
            guard let start = buffer.baseAddress,
                getpwuid_r(geteuid(), &entry, start, buffer.count, &found) == 0, found != nil
            else { return nil }
            return entry[keyPath: field].map { String(cString: $0) }
        }
    }

    private static func variable(_ name: String) -> String? {
        guard let value = getenv(name).map({ String(cString: $0) }), !value.isEmpty else { return nil }
        return value
    }
}

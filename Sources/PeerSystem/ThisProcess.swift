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
    package static var login: String { listedLogin ?? variable("LOGNAME") ?? variable("USER") ?? "user" }

    private static var listedLogin: String? {
        var entry = passwd()
        var found: UnsafeMutablePointer<passwd>?
        var buffer = [CChar](repeating: 0, count: 16 << 10)
        return buffer.withUnsafeMutableBufferPointer { buffer in
            // The text lies in the buffer, so it is copied before that goes.
            guard let start = buffer.baseAddress,
                getpwuid_r(geteuid(), &entry, start, buffer.count, &found) == 0, found != nil
            else { return nil }
            return entry.pw_name.map { String(cString: $0) }
        }
    }

    private static func variable(_ name: String) -> String? {
        guard let value = getenv(name).map({ String(cString: $0) }), !value.isEmpty else { return nil }
        return value
    }
}

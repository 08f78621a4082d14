internal import CSystem
internal import Glibc

/// A system call that failed, and the code it left in `errno`.
package struct SystemError: Error, Hashable, Sendable {
    package let call: String
    package let code: CInt

    package init(call: String, code: CInt) {
        self.call = call
        self.code = code
    }

    /// The reason in the system's words, in lower case.
    package var reason: String {
        var buffer = [CChar](repeating: 0, count: 128)
        return String(cString: pc_error_text(code, &buffer, buffer.count)).lowercased()
    }
}

/// The only owner of a descriptor: it cannot be copied, so it is closed exactly once.
package struct OwnedDescriptor: ~Copyable, Sendable {
    /// For calls that borrow it; never to be closed by them.
    package let raw: CInt

    package init(owning raw: CInt) { self.raw = raw }

    deinit { _ = Glibc.close(raw) }

    /// Closes now, and reports the error that `deinit` would swallow.
    package consuming func close() throws(SystemError) {
        let result = Glibc.close(raw)
        let code = errno  // before anything else can run and change it
        discard self
        if result == -1, code != EINTR { throw SystemError(call: "close", code: code) }
    }
}

/// A descriptor that several owners hold: it is closed when the last of them is gone.
package final class SharedDescriptor: Sendable {
    package let descriptor: OwnedDescriptor
    package init(_ descriptor: consuming OwnedDescriptor) { self.descriptor = descriptor }
}

/// Repeats a call that a signal interrupted, and throws any other failure.
@discardableResult
package func retrying(_ call: String, _ body: () -> Int) throws(SystemError) -> Int {
    while true {
        let result = body()
        let code = errno  // before anything else can run and change it
        if result >= 0 { return result }
        if code != EINTR { throw SystemError(call: call, code: code) }
    }
}

/// Like `retrying`, and `nil` when the call would have to wait.
package func unlessBlocked(_ call: String, _ body: () -> Int) throws(SystemError) -> Int? {
    while true {
        let result = body()
        let code = errno  // before anything else can run and change it
        if result >= 0 { return result }
        if code == EAGAIN || code == EWOULDBLOCK { return nil }
        if code != EINTR { throw SystemError(call: call, code: code) }
    }
}

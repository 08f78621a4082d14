internal import CSystem
internal import Glibc
package import PeerModel

/// What a connection is for, as the network's queues are told.
package enum TrafficClass: Sendable {
    /// Low latency: DSCP AF21, as RFC 4594 gives it for transactions, and a high local priority.
    case interactive
    /// High throughput that may wait: DSCP CS1, the lower effort of RFC 3662, and a low local priority.
    case bulk
}

/// One connected TCP socket and the only owner of its descriptor.
package struct TCPSocket: ~Copyable, Sendable {
    package let descriptor: OwnedDescriptor

    package init(owning descriptor: consuming OwnedDescriptor) { self.descriptor = descriptor }

    /// Starts a connection without waiting; it is made or has failed when the socket is writable.
    package static func connecting(to address: PeerAddress) throws(SystemError) -> TCPSocket {
        let family = if case .v4 = address.ip { AF_INET } else { AF_INET6 }
        let kind = CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue) | CInt(SOCK_NONBLOCK.rawValue)
        let raw = try retrying("socket") { Int(socket(family, kind, 0)) }
        let made = TCPSocket(owning: OwnedDescriptor(owning: CInt(raw)))
        do {
            try retrying("connect") { SocketAddress.with(address) { Int(connect(CInt(raw), $0, $1)) } }
        } catch {
            guard error.code == EINPROGRESS else { throw error }
        }
        return made
    }

    /// Starts a connection and waits for it, so many seconds; for threads that may block.
    package static func connected(to address: PeerAddress, seconds: Double) throws(SystemError) -> TCPSocket {
        let socket = try connecting(to: address)
        try socket.waitConnected(seconds: seconds)
        return socket
    }

    /// Waits for what `connecting` has begun; for threads that may block.
    package borrowing func waitConnected(seconds: Double) throws(SystemError) {
        var entry = pollfd(fd: descriptor.raw, events: Int16(POLLOUT), revents: 0)
        let milliseconds = CInt(min(max(seconds, 0), 86_400) * 1000)
        guard try retrying("poll", { Int(poll(&entry, 1, milliseconds)) }) == 1 else {
            throw SystemError(call: "connect", code: ETIMEDOUT)
        }
        try checkConnected()
    }

    /// Throws what became of `connecting`.
    package borrowing func checkConnected() throws(SystemError) {
        var code: CInt = 0
        var size = socklen_t(MemoryLayout<CInt>.size)
        getsockopt(descriptor.raw, SOL_SOCKET, SO_ERROR, &code, &size)
        if code != 0 { throw SystemError(call: "connect", code: code) }
        // A dial into the own range of ephemeral ports can meet itself (simultaneous open, RFC 9293, 3.5).
        if let local = localAddress, local == remoteAddress { throw SystemError(call: "connect", code: ECONNREFUSED) }
    }

    package var localAddress: PeerAddress? {
        let raw = descriptor.raw
        return SocketAddress.ask { getsockname(raw, $0, $1) }
    }

    package var remoteAddress: PeerAddress? {
        let raw = descriptor.raw
        return SocketAddress.ask { getpeername(raw, $0, $1) }
    }

    /// Sends what fits; `nil` means "wait until writable" or, on a blocking socket, that its limit has passed.
    package static func send(_ raw: CInt, _ bytes: UnsafeRawBufferPointer) throws(SystemError) -> Int? {
        try unlessBlocked("send") { Glibc.send(raw, bytes.baseAddress, bytes.count, CInt(MSG_NOSIGNAL)) }
    }

    /// Receives what is there: 0 at the end of the stream, `nil` when there is nothing yet.
    package static func receive(_ raw: CInt, into buffer: UnsafeMutableRawBufferPointer) throws(SystemError) -> Int? {
        try unlessBlocked("recv") { recv(raw, buffer.baseAddress, buffer.count, 0) }
    }

    /// Ends both directions at once; blocked calls of other threads return.
    package static func shutdown(_ raw: CInt) { _ = Glibc.shutdown(raw, CInt(SHUT_RDWR)) }

    /// Says that nothing more will be sent; what the other side still sends can be received.
    package borrowing func endSending() { _ = Glibc.shutdown(descriptor.raw, CInt(SHUT_WR)) }

    /// Makes calls wait, but no longer than these limits; a call that has waited so long gives `nil`.
    package borrowing func makeBlocking(receiveSeconds: Double, sendSeconds: Double) {
        let flags = pc_get_flags(descriptor.raw)
        _ = pc_set_flags(descriptor.raw, flags & ~O_NONBLOCK)
        set(SOL_SOCKET, SO_RCVTIMEO, Self.limit(receiveSeconds))
        set(SOL_SOCKET, SO_SNDTIMEO, Self.limit(sendSeconds))
    }

    /// Never zero, which would be no limit (socket(7)).
    private static func limit(_ seconds: Double) -> timeval {
        let microseconds = Int(min(max(seconds, 1e-6), 86_400) * 1e6)
        return timeval(tv_sec: microseconds / 1_000_000, tv_usec: microseconds % 1_000_000)
    }

    /// Marks the traffic for the queues on its way; all of it is best effort.
    package borrowing func mark(_ traffic: TrafficClass) {
        let isInteractive = traffic == .interactive
        let service = CInt(isInteractive ? 18 << 2 : 8 << 2)
        set(CInt(IPPROTO_IP), IP_TOS, service)
        set(CInt(IPPROTO_IPV6), IPV6_TCLASS, service)
        // After IP_TOS, which sets a priority of its own (ip(7)); pfifo_fast: band 0 and band 2.
        set(SOL_SOCKET, SO_PRIORITY, CInt(isInteractive ? 6 : 2))
        set(CInt(IPPROTO_TCP), TCP_NODELAY, CInt(1))
        // What is queued in the kernel cannot be overtaken: keep that short.
        set(CInt(IPPROTO_TCP), TCP_NOTSENT_LOWAT, CInt(128 << 10))
    }

    private borrowing func set<Value>(_ level: CInt, _ option: CInt, _ value: Value) {
        _ = withUnsafeBytes(of: value) {
            setsockopt(descriptor.raw, level, option, $0.baseAddress, socklen_t($0.count))
        }
    }
}

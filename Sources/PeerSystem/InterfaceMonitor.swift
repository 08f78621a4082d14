internal import CSystem
internal import Glibc
internal import PeerModel
internal import Synchronization

/// Tells of interfaces and addresses that come, go or change (rtnetlink(7)).
package final class InterfaceMonitor: Sendable {
    /// One cable gives a dozen messages: so many seconds are waited for the others.
    private static let settling = 0.2

    private struct State: Sendable {
        var interfaces: [NetworkInterface]
        var token: UInt64?
        var timer: UInt64?
    }

    private let loop: EventLoop
    private let socket: OwnedDescriptor
    private let state: Mutex<State>
    private let body: @Sendable ([NetworkInterface]) -> Void

    /// Calls `body` on the loop's thread with the interfaces that are up, when they differ from before.
    ///
    /// For the loop's thread, as is `cancel`, which has to be called before it is let go.
    package init(
        on loop: EventLoop, _ body: @escaping @Sendable ([NetworkInterface]) -> Void
    ) throws(SystemError) {
        self.loop = loop
        self.body = body
        let kind = CInt(SOCK_RAW.rawValue) | CInt(SOCK_CLOEXEC.rawValue) | CInt(SOCK_NONBLOCK.rawValue)
        socket = OwnedDescriptor(
            owning: CInt(try retrying("socket") { Int(Glibc.socket(AF_NETLINK, kind, NETLINK_ROUTE)) }))
        var address = sockaddr_nl()
        address.nl_family = sa_family_t(AF_NETLINK)
        address.nl_groups = UInt32(RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR)
        let raw = socket.raw
        try retrying("bind") {
            withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    Int(bind(raw, $0, socklen_t(MemoryLayout<sockaddr_nl>.size)))
                }
            }
        }
        // Looked at after `bind`, so that no change falls between the two.
        state = Mutex(State(interfaces: NetworkInterface.current()))
        let token = try loop.register(raw: raw, .readable) { [weak self] _ in self?.noticed() }
        state.withLock { $0.token = token }
    }

    /// Ends the calls.
    package func cancel() {
        let (token, timer) = state.withLock { state in (state.token.take(), state.timer.take()) }
        if let token { loop.unregister(token) }
        if let timer { loop.cancel(timer) }
    }

    /// The messages only say when to look: they get lost when there are many (ENOBUFS), and looking never lies.
    private func noticed() {
        var buffer = [UInt8](repeating: 0, count: 8192)
        var bounded = 0
        while bounded < 64, recv(socket.raw, &buffer, buffer.count, 0) >= 0 { bounded += 1 }
        guard state.withLock({ $0.timer == nil && $0.token != nil }) else { return }
        let timer = loop.schedule(at: BootClock.now() + Self.settling) { [weak self] in self?.settled() }
        state.withLock { $0.timer = timer }
    }

    private func settled() {
        let interfaces = NetworkInterface.current()
        let isNew = state.withLock { state in
            state.timer = nil
            defer { state.interfaces = interfaces }
            return state.interfaces != interfaces
        }
        if isNew { body(interfaces) }
    }
}

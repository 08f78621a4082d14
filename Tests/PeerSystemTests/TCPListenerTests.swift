import Glibc
import PeerModel
import Testing

@testable import PeerSystem

@Suite(.timeLimit(.minutes(8))) struct TCPListenerTests {
    @Test("A port that is taken is an error that says so")
    func takenPort() throws {
        let first = try TCPListener(port: 0)
        #expect(throws: SystemError(call: "bind", code: EADDRINUSE)) { try TCPListener(port: first.port) }
    }

    @Test("The first free port of a range is taken, and any when none is free")
    func range() throws {
        let taken = try TCPListener(port: 0)
        try #require(taken.port < 65_535)
        let next = try TCPListener.first(of: taken.port...taken.port + 1)
        #expect(next.port != taken.port)
        let other = try TCPListener.first(of: taken.port...taken.port)
        #expect(![taken.port, next.port, 0].contains(other.port))
    }

    @Test("An interface that does not exist is an error: it must not listen on the others instead")
    func unknownInterface() {
        #expect(throws: SystemError(call: "setsockopt", code: ENODEV)) {
            try TCPListener(port: 0, interfaces: ["nosuchif0"])
        }
    }

    @Test("A listener of one interface, named once or twice, hears what comes in there")
    func interface() throws {
        let names = NetworkInterface.current().filter(\.isLoopback).map(\.name)
        let listener = try TCPListener(port: 0, interfaces: names + names)
        let near = try TCPSocket.connected(to: PeerAddress(.v4([127, 0, 0, 1]), port: listener.port), seconds: 5)
        let far = try listener.accept()
        #expect(far?.remoteAddress == near.localAddress)
    }

    @Test("Waiting connections are told of on the loop")
    func register() async throws {
        let loop = try EventLoop()
        defer { loop.stop() }
        let listener = try TCPListener(port: 0)
        let accepted: PeerAddress? = try await first { sink in
            loop.post {
                let tokens = try? listener.register(on: loop) {
                    if let socket = try? listener.accept(), let address = socket.remoteAddress { sink.yield(address) }
                }
                if tokens == nil { sink.finish() }
            }
            _ = try TCPSocket.connected(to: PeerAddress(.v4([127, 0, 0, 1]), port: listener.port), seconds: 5)
        }
        #expect(accepted?.ip == .v4([127, 0, 0, 1]))
    }

    @Test("Without a free descriptor a connection is turned away with EMFILE, and does not wait for ever")
    func noDescriptorLeft() async {
        await #expect(processExitsWith: .exitCode(77)) {
            let listener = try TCPListener(port: 0)
            let near = try TCPSocket.connected(to: PeerAddress(.v4([127, 0, 0, 1]), port: listener.port), seconds: 5)
            near.makeBlocking(receiveSeconds: 5, sendSeconds: 5)
            var limit = rlimit(rlim_cur: 256, rlim_max: 256)
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            while dup(0) >= 0 {}
            do throws(SystemError) {
                _ = try listener.accept()
                exit(1)
            } catch {
                guard error == SystemError(call: "accept", code: EMFILE) else { exit(2) }
            }
            // The queue is empty now, which is not an error.
            guard try listener.accept() == nil else { exit(3) }
            let raw = near.descriptor.raw
            var byte: UInt8 = 0
            let count = recv(raw, &byte, 1, 0)
            exit(count == 0 || errno == ECONNRESET ? 77 : 4)
        }
    }
}

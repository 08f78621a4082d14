import PeerModel
import PeerSystem
import PeerTLS
import PeerWire
import Testing

@testable import PeerLink

@Suite("Tickets") struct TransferHubTests {
    private let peer = PeerID(SHA256.hash([1]))
    private let later = BootClock.now() + 30

    private func job(_ byte: UInt8) -> TransferJob {
        TransferJob(TransferID(SHA256.hash([byte])), length: 10, isSpooled: true)
    }

    @Test("A peer that asks with a ticket it was given does not take that ticket away")
    func takenTicket() {
        var hub = TransferHub()
        let ours = job(1), theirs = job(2), queue = ArrivalQueue(), key = [UInt8](repeating: 7, count: 16)
        hub.issue(
            key, Ticket(transfer: ours.transfer, peer: peer, use: .receive(ours, queue, from: 0), deadline: later))
        hub.issue(
            key,
            Ticket(
                transfer: theirs.transfer, peer: peer, use: .send(theirs, theirs.ledger, from: 0), deadline: later))
        let ticket = hub.redeem(Open(transfer: ours.transfer, ticket: key), by: peer)
        guard case .receive? = ticket?.use else {
            Issue.record("not the ticket that was handed out first")
            return
        }
    }

    @Test("A neighbour that asks again and again has one thread, and the newest request is served next")
    func onePerNeighbour() {
        let job = job(1)
        var started: [Int] = [], pumps: [Pump] = []
        for number in 0..<1000 {
            job.send(to: peer) { pump in
                started.append(number)
                pumps.append(pump)
            }
        }
        #expect(started == [0])
        job.sent(to: peer, by: Pump())
        #expect(started == [0])
        job.sent(to: peer, by: pumps[0])
        #expect(started == [0, 999])
        job.sent(to: peer, by: pumps[0])
        #expect(job.sending.count == 1)
        job.sent(to: peer, by: pumps[1])
        #expect(job.sending.isEmpty)
        #expect(started == [0, 999])
    }
}

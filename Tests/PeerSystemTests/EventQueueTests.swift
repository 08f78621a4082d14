import PeerSystem
import Synchronization
import Testing

@Suite("The queue of events", .timeLimit(.minutes(8)))
struct EventQueueTests {
    @Test("Everything comes out in order, what waits at the end too, and then it is over for good")
    func order() async {
        let queue = EventQueue<Int>(bound: 10)
        for number in 0..<5000 { queue.add(number) }
        queue.finish()
        queue.add(5000)
        var found: [Int] = []
        for await number in queue.elements { found.append(number) }
        #expect(found == Array(0..<5000))
        for await _ in queue.elements { Issue.record("it is over") }
    }

    @Test("A reader that waits gets what is added later")
    func later() async {
        let queue = EventQueue<Int>(bound: 2)
        async let read: [Int] = {
            var found: [Int] = []
            for await number in queue.elements { found.append(number) }
            return found
        }()
        for number in 0..<100 {
            await queue.addAndWait(number)
            await Task.yield()
        }
        queue.finish()
        #expect(await read == Array(0..<100))
    }

    @Test("Who adds and waits goes on when half of the crowd has gone, and whoever wants to know is told then")
    func relief() async {
        let queue = EventQueue<Int>(bound: 4), told = Mutex(0)
        queue.onRelief { told.withLock { $0 += 1 } }
        for number in 0..<3 { await queue.addAndWait(number) }
        #expect(!queue.isCrowded)
        let waiting = Task { await queue.addAndWait(3) }
        while !queue.isCrowded { await Task.yield() }
        var reader = queue.elements.makeAsyncIterator()
        #expect(await reader.next() == 0)
        #expect(queue.isCrowded && told.withLock { $0 } == 0)
        #expect(await reader.next() == 1)
        #expect(!queue.isCrowded && told.withLock { $0 } == 1)
        await waiting.value
    }

    @Test(
        "Nobody waits for ever: not when it is over, not when nobody reads any more, not when the reader is cancelled")
    func ends() async {
        for end in [{ $0.finish() }, { $0.stopWaiting() }] as [@Sendable (EventQueue<Int>) -> Void] {
            let queue = EventQueue<Int>(bound: 1)
            let waiting = Task { await queue.addAndWait(1) }
            while !queue.isCrowded { await Task.yield() }
            end(queue)
            await waiting.value
            await queue.addAndWait(2)
        }
        let queue = EventQueue<Int>(bound: 1)
        let reading = Task { for await _ in queue.elements {} }
        await Task.yield()
        reading.cancel()
        await reading.value
    }
}

import TestSupport

extension SeededGenerator {
    /// For the number of a test case.
    init(_ number: Int) { self.init(seed: UInt64(truncatingIfNeeded: number)) }

    mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[Int.random(in: elements.indices, using: &self)]
    }
}

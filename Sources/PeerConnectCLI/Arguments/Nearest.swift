/// The candidate a misspelt word most likely meant, or `nil` when none is close.
///
/// Close is at most two changes (insert, drop, replace, swap neighbours), and fewer than the word has letters.
func nearest(to word: String, among candidates: [String]) -> String? {
    let typed = Array(word.utf8)
    guard typed.count <= 64 else { return nil }  // nothing we offer is that long, and the cost is quadratic
    let scored = candidates.map { (name: $0, changes: changes(from: typed, to: Array($0.utf8))) }
    guard let best = scored.min(by: { $0.changes < $1.changes }) else { return nil }
    return best.changes <= 2 && best.changes < typed.filter({ $0 != UInt8(ascii: "-") }).count ? best.name : nil
}

/// The distance of Damerau and Levenshtein, each part changed once (optimal string alignment).
private func changes(from left: [UInt8], to right: [UInt8]) -> Int {
    var beforeLast: [Int] = []
    var last = Array(0...right.count)
    for i in left.indices {
        var row = [i + 1]
        for j in right.indices {
            var cost = min(row[j] + 1, last[j + 1] + 1, last[j] + (left[i] == right[j] ? 0 : 1))
            if i > 0, j > 0, left[i] == right[j - 1], left[i - 1] == right[j] {
                cost = min(cost, beforeLast[j - 1] + 1)
            }
            row.append(cost)
        }
        (beforeLast, last) = (last, row)
    }
    return last[right.count]
}

/// Every key of a control payload, spelled as in `WIRE.md`.
enum FieldKey: String, CodingKey, CaseIterable {
    case accept, addresses, answer, automatic, bytes, chat, counter, counters, event, files, hash, join, joined
    case max, members, min, missing, n, name, nonce, offer, peer, piece, port, proof, purpose, reason, run, signature
    case size, statement, status, ticket, transfer
}

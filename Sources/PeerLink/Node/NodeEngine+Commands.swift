package import PeerModel
internal import PeerProtocol
internal import PeerSystem
internal import PeerTLS
internal import PeerWire

/// What the application asks.
extension NodeEngine {
    /// Does what is asked; events it causes at once come before the reply, and with a line the reply is an event too.
    ///
    /// What is done in a chat is done in this one, or without a name in the only one.
    package func perform(_ command: NodeCommand, in chat: ChatID? = nil, line: Int?) async -> Reply {
        let reply: Reply
        do throws(PeerConnectError) {
            reply = try await answer(command, in: chat, line)
        } catch {
            reply = .failed(error)
        }
        carryOutEffects()
        if let line { emit(.reply(line: line, reply)) }
        return reply
    }

    private func answer(
        _ command: NodeCommand, in chat: ChatID?, _ line: Int?
    ) async throws(PeerConnectError) -> Reply {
        guard !isStopped else { throw Self.stopping }
        switch command {
        case .invite(let references):
            var invitations: [NodeMachine.Invitation] = []
            for reference in references { invitations.append(try invitation(reference)) }
            guard !invitations.isEmpty else {
                throw PeerConnectError(.usage, "Name at least one peer to invite.", hint: "/peers lists who is here.")
            }
            return machine.invite(invitations, into: chat, line: line, at: moment)
        case .start: return machine.start(at: moment)
        case .accept(let item):
            let item = try await checkRoom(for: try resolve(item))
            return machine.accept(item, line: line, at: moment)
        case .decline(let item): return machine.decline(try resolve(item), line: line, at: moment)
        case .say(let text): return try await say(text, in: chat, line)
        case .send(let paths, let references): return try await send(paths, to: references, in: chat, line)
        case .cancel(let item): return machine.cancel(try resolve(item), at: moment)
        case .leave: return machine.leave(chat, at: moment)
        case .end: return machine.end(chat, at: moment)
        case .giveUp: return machine.giveUp(at: moment)
        case .doNotDisturb(let isOn):
            machine.settings.doNotDisturb = isOn
            return .done
        }
    }

    /// Goes by another name from now on, on the network too; the key stays, and what is stored is not touched.
    ///
    /// - Throws: `busy` during a chat or an invitation of its own.
    package func rename(to name: DisplayName) throws(PeerConnectError) {
        guard !isStopped else { throw Self.stopping }
        if case .failed(let error) = machine.rename(to: name.description) { throw error }
        identity = LocalIdentity(key: identity.key, displayName: name)
        carryOutEffects()
    }

    /// Offers files in a chat; looking at them may take long, so everything is asked again after it.
    private func send(
        _ paths: [String], to references: [PeerReference], in named: ChatID?, _ line: Int?
    ) async throws(PeerConnectError) -> Reply {
        guard !machine.chats.isEmpty else {
            throw PeerConnectError(
                .noChat, "You are not in a chat.", hint: "Without one: peerconnect send FILE --to PEER.")
        }
        let chat = try machine.chat(named).get()
        _ = try recipients(references, in: chat)
        let walked = try await walk(paths)
        guard !isStopped, machine.chats.contains(chat) else { throw NodeMachine.isOver }
        let recipients = try recipients(references, in: chat)
        let body = offer(
            walked, to: recipients, in: chat, aimedAt: recipients.count == 1 ? recipients[0].description : "")
        let reply = machine.offer(body, in: chat, line: line, at: moment)
        if case .failed = reply { _ = hub.remove(body.transfer) }
        return reply
    }

    private func recipients(
        _ references: [PeerReference], in chat: ChatID
    ) throws(PeerConnectError) -> [PeerID] {
        var wanted: [PeerID] = []
        for reference in references {
            wanted.append(try directory.member(reference, among: machine.everyone(in: chat)))
        }
        return try machine.recipients(wanted, in: chat).get()
    }

    /// Invites one peer into a chat of its own to take these files: one answer covers invitation and offer.
    package func offer(
        _ paths: [String], to reference: PeerReference, answerWithin seconds: Double, stallAfter patience: Double,
        line: Int?
    ) async -> Reply {
        let reply: Reply
        do throws(PeerConnectError) {
            let aim = try invitation(reference).aim
            let walked = try await walk(paths)
            guard !isStopped, !Task.isCancelled else { throw Self.stopping }
            // Who an address belongs to is not known yet; the offer names its recipient once it is.
            let body = offer(walked, to: [], aimedAt: aim)
            reply = machine.invite(
                [try invitation(reference)], purpose: .file, offer: body, answerWithin: seconds,
                stallAfter: patience, line: line, at: moment)
            if case .failed = reply { _ = hub.remove(body.transfer) }
        } catch {
            reply = .failed(error)
        }
        carryOutEffects()
        return reply
    }

    /// Takes back what `offer` with this line began: nobody waits for it any more.
    package func withdrawOffer(line: Int) {
        machine.withdraw(line: line, at: moment)
        carryOutEffects()
    }

    private static let stopping = PeerConnectError(.internal, "The program is stopping.")

    private func offer(
        _ walked: Walked, to recipients: [PeerID], in chat: ChatID? = nil, aimedAt aim: String = ""
    ) -> OfferBody {
        let (source, manifestHash) = (walked.source, walked.manifestHash)
        let (transfer, nonce) = unusedID(walked, to: recipients, in: chat, aim)
        let body = OfferBody(
            transfer: transfer, nonce: nonce, size: source.totalSize,
            entries: UInt32(clamping: source.manifest.entries.count), files: UInt32(clamping: source.fileCount),
            manifestLength: UInt64(source.manifestBytes.count), manifestHash: manifestHash, recipients: recipients,
            names: source.names)
        prepare(transfer, source)
        if !source.skipped.isEmpty {
            let entries = source.skipped.prefix(Limits.toldEntries).map { "\($0.path): \($0.why)" }
            emit(.fileSkipped(transfer: transfer, entries: entries, count: source.skipped.count))
        }
        return body
    }

    /// The transfer that an offer of these files is: the same in every run, so that an interrupted one continues.
    ///
    /// Not while it is under way, and not when it has arrived at all of them in this chat: then it is wanted once more.
    private func unusedID(
        _ walked: Walked, to recipients: [PeerID], in chat: ChatID?, _ aim: String
    ) -> (TransferID, nonce: [UInt8]) {
        var counter: UInt64 = 0
        while true {
            let layout = TransferLayout.nonce(
                fingerprint: walked.fingerprint, manifestHash: walked.manifestHash, aim: aim, counter: counter)
            let nonce = Array(SHA256.hash(identity.key.sign(layout)).bytes.prefix(OfferBody.nonceSize))
            let id = TransferID(
                SHA256.hash(
                    TransferLayout.identity(sender: identity.id, nonce: nonce, manifestHash: walked.manifestHash)))
            if hub.jobs[id] == nil, !machine.isUsed(id, in: chat, to: recipients) { return (id, nonce) }
            counter += 1
        }
    }

    private struct Walked: Sendable {
        let source: TransferSource
        let manifestHash: Digest
        let fingerprint: Digest

        init(_ source: TransferSource) {
            self.source = source
            manifestHash = SHA256.hash(source.manifestBytes)
            fingerprint = source.fingerprint()
        }
    }

    private func walk(_ paths: [String]) async throws(PeerConnectError) -> Walked {
        guard !paths.isEmpty else {
            throw PeerConnectError(.usage, "Name at least one file or folder to send.", hint: "Type /send PATH.")
        }
        let result: Result<Walked, PeerConnectError>
        do throws(SystemError) {
            result = try await BlockingThread.value("walk") {
                Result { () throws(PeerConnectError) in try Walked(SourceWalk.walk(paths: paths)) }
            }
        } catch {
            throw PeerConnectError.noThread(error.reason, cause: error)
        }
        return try result.get()
    }

    // MARK: Names

    /// The peer a reference means; `nil` for an address, whose peer is known only when it answers.
    package func resolve(_ reference: PeerReference) throws(PeerConnectError) -> PeerID? {
        switch try directory.resolve(reference, allowNumbers: true) {
        case .peer(let id, _): id
        case .address(_, let expected): expected
        }
    }

    private func invitation(_ reference: PeerReference) throws(PeerConnectError) -> NodeMachine.Invitation {
        switch try directory.resolve(reference, allowNumbers: true) {
        case .peer(let id, let addresses):
            guard id != identity.id else {
                throw PeerConnectError(.noSuchPeer, "That is this peer itself.", hint: "/peers lists the others.")
            }
            let listed = directory.peer(id)?.peer ?? machine.settings.acquaintances.peer(id)?.peer
            return NodeMachine.Invitation(
                target: .peer(id, addresses: addresses), label: listed?.name ?? reference.text, peer: listed)
        case .address(let address, let expected):
            return NodeMachine.Invitation(
                target: .address(address, expected: expected), label: reference.text, peer: nil)
        }
    }

    private func resolve(_ item: ItemReference?) throws(PeerConnectError) -> NodeMachine.Item? {
        switch item {
        case nil: nil
        case .number(let number)?: .number(number)
        case .peer(let reference)?:
            if let asker = asking(reference) { .peer(asker) } else { try resolve(reference).map { .peer($0) } }
        }
    }

    /// Who asks something and is called so, listed or not.
    private func asking(_ reference: PeerReference) -> PeerID? {
        let text = reference.text.lowercased()
        let named = Set(machine.askers.filter { $0.name.lowercased() == text }.map(\.id))
        return named.count == 1 ? named.first : nil
    }

    /// Accepted is only what there is room for; gives the same item, as what it means now.
    private func checkRoom(for item: NodeMachine.Item?) async throws(PeerConnectError) -> NodeMachine.Item? {
        guard let (item, size, transfer) = machine.offered(item) else { return item }
        let downloads = settings.downloads, promised = hub.promised
        // On a thread of its own: a file server that has gone away may keep it for minutes.
        // Without one it is looked at before anything is written.
        let hasRoom = try? await BlockingThread.value("room") {
            let missing = size - Landing.bytesHere(of: transfer, size: size, in: downloads)
            return FreeSpace.isEnough(for: missing, at: downloads, promised: promised)
        }
        guard !isStopped else { throw Self.stopping }
        guard hasRoom ?? true else {
            throw PeerConnectError(
                .noSpace, "There is not enough room in \(downloads).", hint: "Make some, or decline.")
        }
        return item
    }

    package func snapshot() -> NodeSnapshot {
        var snapshot = machine.snapshot()
        snapshot.peers = directory.list
        return snapshot
    }
}

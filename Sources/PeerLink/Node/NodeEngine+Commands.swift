package import PeerModel
internal import PeerProtocol
internal import PeerSystem
internal import PeerTLS
internal import PeerWire

/// What the application asks.
extension NodeEngine {
    /// Does what is asked; events it causes at once come before the reply, and with a line the reply is an event too.
    package func perform(_ command: NodeCommand, line: Int?) async -> Reply {
        let reply: Reply
        do throws(PeerConnectError) {
            reply = try await obey(command, line)
        } catch {
            reply = .failed(error)
        }
        obey()
        if let line { emit(.reply(line: line, reply)) }
        return reply
    }

    private func obey(_ command: NodeCommand, _ line: Int?) async throws(PeerConnectError) -> Reply {
        guard !isStopped else { throw PeerConnectError(.internal, "The program is stopping.") }
        switch command {
        case .invite(let references):
            var invitations: [NodeMachine.Invitation] = []
            for reference in references { invitations.append(try invitation(reference)) }
            guard !invitations.isEmpty else { throw PeerConnectError(.usage, "Name at least one peer to invite.") }
            return machine.invite(invitations, line: line, at: moment)
        case .start: return machine.start(at: moment)
        case .accept(let item): return machine.accept(try resolve(item), line: line, at: moment)
        case .decline(let item): return machine.decline(try resolve(item), line: line, at: moment)
        case .say(let text): return machine.say(text, line: line, at: moment)
        case .send(let paths, let references):
            var wanted: [PeerID] = []
            for reference in references { wanted.append(try member(reference)) }
            let recipients = try machine.recipients(wanted).get()
            let body = try await offer(paths, to: recipients)
            let reply = machine.offer(body, line: line, at: moment)
            if case .failed = reply { hub.jobs[body.transfer] = nil }
            return reply
        case .cancel(let item): return machine.cancel(try resolve(item), at: moment)
        case .leave: return machine.leave(at: moment)
        case .end: return machine.end(at: moment)
        case .doNotDisturb(let isOn):
            machine.settings.doNotDisturb = isOn
            return .done
        }
    }

    /// Invites one peer into a chat of its own to take these files: one answer covers invitation and offer.
    package func offer(_ paths: [String], to reference: PeerReference, answerWithin seconds: Double, line: Int?) async
        -> Reply
    {
        let reply: Reply
        do throws(PeerConnectError) {
            let invitation = try invitation(reference)
            // Who an address belongs to is not known yet; the offer names its recipient once it is.
            let body = try await offer(paths, to: [])
            reply = machine.invite(
                [invitation], purpose: .file, offer: body, answerWithin: seconds, line: line, at: moment)
        } catch {
            reply = .failed(error)
        }
        obey()
        return reply
    }

    private func offer(_ paths: [String], to recipients: [PeerID]) async throws(PeerConnectError) -> OfferBody {
        let source = try await walk(paths)
        let nonce = randomBytes(OfferBody.nonceSize)
        let manifestHash = SHA256.hash(source.manifestBytes)
        let transfer = TransferID(
            SHA256.hash(TransferLayout.identity(sender: identity.id, nonce: nonce, manifestHash: manifestHash)))
        let body = OfferBody(
            transfer: transfer, nonce: nonce, size: source.totalSize,
            entries: UInt32(clamping: source.manifest.entries.count), files: UInt32(clamping: source.fileCount),
            manifestLength: UInt64(source.manifestBytes.count), manifestHash: manifestHash, recipients: recipients,
            names: source.names)
        prepare(transfer, source)
        for skipped in source.skipped {
            emit(.failure(PeerConnectError(.unreadable, "Left out: \(skipped.path): \(skipped.why).")))
        }
        return body
    }

    private func walk(_ paths: [String]) async throws(PeerConnectError) -> TransferSource {
        guard !paths.isEmpty else { throw PeerConnectError(.usage, "Name at least one file or folder to send.") }
        let result: Result<TransferSource, PeerConnectError> = await withCheckedContinuation { continuation in
            let started: Void? = try? BlockingThread.spawn("walk") {
                do {
                    continuation.resume(returning: .success(try SourceWalk.walk(paths: paths)))
                } catch let error as PeerConnectError {
                    continuation.resume(returning: .failure(error))
                } catch {
                    continuation.resume(returning: .failure(PeerConnectError(.unreadable, "\(error)", cause: error)))
                }
            }
            if started == nil {
                continuation.resume(returning: .failure(PeerConnectError(.internal, "A thread could not be started.")))
            }
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
            guard id != identity.id else { throw PeerConnectError(.noSuchPeer, "That is this peer itself.") }
            let listed = directory.peer(id)?.peer
            return NodeMachine.Invitation(
                target: .peer(id, addresses: addresses), label: listed?.name ?? reference.text, peer: listed)
        case .address(let address, let expected):
            return NodeMachine.Invitation(
                target: .address(address, expected: expected), label: reference.text, peer: nil)
        }
    }

    /// A member of the chat, by name or ID, or by its number in the list.
    private func member(_ reference: PeerReference) throws(PeerConnectError) -> PeerID {
        let view = machine.currentView
        let present = view.map { [$0.host] + $0.members } ?? []
        let named = present.filter {
            $0.name.lowercased() == reference.text.lowercased()
                || $0.id.description.hasPrefix(reference.text.lowercased())
        }
        if named.count == 1 { return named[0].id }
        if named.count > 1 {
            throw PeerConnectError(
                .ambiguous, "Several in this chat are called \(reference.text).", hint: "Use the start of an ID.",
                candidates: named)
        }
        guard let id = try resolve(reference) else {
            throw PeerConnectError(.noSuchPeer, "\(reference.text) is not in this chat.")
        }
        return id
    }

    private func resolve(_ item: ItemReference?) throws(PeerConnectError) -> NodeMachine.Item? {
        switch item {
        case nil: nil
        case .number(let number)?: .number(number)
        case .peer(let reference)?: try resolve(reference).map { .peer($0) }
        }
    }

    package func snapshot() -> NodeSnapshot {
        var snapshot = machine.snapshot()
        snapshot.peers = directory.list
        return snapshot
    }
}

internal import PeerModel

/// What the chat command waits for.
enum ChatStep: Sendable {
    case event(NodeEvent)
    case input(InputLine?)
    /// The search for the peers of `--invite` is over.
    case found(Invitees)
    case invited(NodeCommand, Reply)
    /// Nothing came of a crossing invitation.
    case settled
    case interrupted
    /// The node has stopped and told everything.
    case over
}

/// Joins the node's events and the lines of input: one line at a time, each answered before the next is looked at.
struct ChatLoop: Sendable {
    /// Texts and offers that may wait for a chat before no more lines are read.
    private static let heldAtMost = 256
    /// How long a crossing invitation may take from our withdrawal to the start of its chat.
    private static let settling = Duration.seconds(2)

    let session: any NodeSession
    let run: Run
    let queue: StepQueue<ChatStep>
    let invitees: [PeerReference]
    let wait: Duration

    var teller: ChatTeller
    var state = ChatState()
    private let parser: PromptParser
    private var lineNumber = 0
    private var held: [(line: Int, command: NodeCommand)] = []
    /// The command whose reply is awaited.
    private var current: (line: Int, command: NodeCommand)?
    private var isReading = false
    private var inputEnded = false
    private var isStopping = false
    private var quitWasAsked = false
    private var status = ExitStatus.done
    private var inviteStatus: ExitStatus?

    init(session: any NodeSession, run: Run, queue: StepQueue<ChatStep>, invitees: [PeerReference], wait: Duration) {
        self.session = session
        self.run = run
        self.queue = queue
        self.invitees = invitees
        self.wait = wait
        teller = ChatTeller(run: run, me: session.me)
        parser = PromptParser(paths: run.world.paths, groups: run.options.groups)
    }

    /// Until the input or the user says so and the node has stopped.
    mutating func run() async -> ExitStatus {
        queue.follow(session.events, end: .over) { .event($0) }
        queue.run { [session, run] in await EmptyListHint.watch(session, run) }
        if !invitees.isEmpty {
            state.isLookingForInvitees = true
            queue.run { [session, invitees, wait, world = run.world] in
                .found(await Invitees.find(invitees, in: session, within: wait, sleep: world.sleep))
            }
        }
        await advance()
        for await step in queue.steps {
            if case .over = step { break }
            await take(step)
            await advance()
        }
        queue.close()
        return status
    }

    private mutating func take(_ step: ChatStep) async {
        switch step {
        case .event(let event): take(event)
        case .input(let line):
            isReading = false
            guard let line else { return await endOfInput() }
            lineNumber += 1
            await take(line, number: lineNumber)
        case .found(let found): take(found)
        case .invited(let command, let reply):
            state.end(command, reply)
            if case .failed(let error) = reply {
                teller.report(error)
                inviteStatus = error.status
            }
        case .settled: state.isSettling = false
        case .interrupted: stop(.done)
        case .over: break
        }
    }

    private mutating func take(_ event: NodeEvent) {
        teller.tell(event)
        state.note(event)
        switch event {
        case .reply(let line, let reply):
            guard let current, current.line == line else { return }
            state.end(current.command, reply)
            self.current = nil
        case .inviteDone(let chat, let answers, let line):
            if line == nil, !invitees.isEmpty { inviteStatus = Invitees.status(of: answers.map(\.1)) }
            // Our withdrawn invitations are answered `timeout`; the crossing one may be about to start its chat.
            guard chat == nil, !state.hadChat, answers.contains(where: { $0.1 == .timeout }) else { return }
            state.isSettling = true
            queue.run { [sleep = run.world.sleep] in (try? await sleep(Self.settling)).map { .settled } }
        default: break
        }
    }

    private mutating func take(_ found: Invitees) {
        state.isLookingForInvitees = false
        for error in found.problems {
            teller.report(error)
            inviteStatus = .notReachable
        }
        guard !found.references.isEmpty, !isStopping else { return }
        let command = NodeCommand.invite(found.references)
        state.begin(command)
        queue.run { [session] in .invited(command, await session.perform(command, line: nil)) }
    }

    // MARK: Lines

    private mutating func take(_ line: InputLine, number: Int) async {
        switch line {
        case .text(let text):
            await take(run.console.isJSON ? JSONLine.parse(text, with: parser) : parser.parse(text), number: number)
        case .tooLong:
            teller.refuse(number, PeerConnectError(.tooLong, "The line is longer than 1 MiB."))
        case .notUTF8:
            teller.refuse(number, PeerConnectError(.notUTF8, "The line is not valid UTF-8."))
        }
    }

    private mutating func take(_ line: PromptLine, number: Int) async {
        let isSecondQuit = quitWasAsked
        quitWasAsked = false
        switch line {
        case .nothing: teller.confirm(number)
        case .problem(let error): teller.refuse(number, error)
        case .message(let text): performInChat(.say(text), line: number)
        case .unnamed(let command):
            if run.world.inputIsTerminal, !run.console.isJSON {
                teller.listOpenItems(for: command, await session.snapshot())
            } else {
                perform(command, line: number)
            }
        case .command(let command):
            if case .send = command { performInChat(command, line: number) } else { perform(command, line: number) }
        case .peers(let text): teller.listPeers(number, await session.snapshot(), matching: text)
        case .who: teller.listMembers(number, await session.snapshot())
        case .transfers: teller.listTransfers(number, await session.snapshot())
        case .record(let request): await take(request, number: number)
        case .help(let commands): teller.help(number, commands)
        case .quit: await quit(number, isSecond: isSecondQuit)
        }
    }

    /// For what only makes sense in a chat: it waits for one that is about to come.
    private mutating func performInChat(_ command: NodeCommand, line: Int) {
        guard state.holdsTexts else { return perform(command, line: line) }
        held.append((line, command))
        if run.world.inputIsTerminal { teller.note("That waits for the chat to start.") }
    }

    private mutating func perform(_ command: NodeCommand, line: Int) {
        current = (line, command)
        state.begin(command)
        queue.run { [session] in
            _ = await session.perform(command, line: line)  // the reply comes with the events, in its place
            return nil
        }
    }

    /// Sends what was held, reads on, or ends; called after every step.
    private mutating func advance() async {
        guard !isStopping, current == nil else { return }
        if !state.holdsTexts, !held.isEmpty {
            let (line, command) = held.removeFirst()
            return perform(command, line: line)
        }
        if inputEnded {
            if held.isEmpty, state.isIdle { stop(finalStatus) }
        } else if !isReading, held.count < Self.heldAtMost {
            isReading = true
            queue.run { [input = run.world.input] in .input(await input.next()) }
        }
    }

    // MARK: Ending

    private mutating func endOfInput() async {
        inputEnded = true
        // At a terminal the end of input is Ctrl-D: whoever sits there wants out.
        if run.world.inputIsTerminal { stop(.done) }
    }

    private mutating func quit(_ number: Int, isSecond: Bool) async {
        if run.world.inputIsTerminal, !run.console.isJSON, !isSecond {
            let snapshot = await session.snapshot()
            if let warning = teller.whatQuittingEnds(snapshot) {
                quitWasAsked = true
                return teller.note(warning)
            }
        }
        for (line, _) in held { teller.refuse(line, PeerConnectError(.noChat, "There was no chat to send this to.")) }
        held = []
        teller.confirm(number)
        stop(run.world.inputIsTerminal ? .done : finalStatus)
    }

    private var finalStatus: ExitStatus {
        if !invitees.isEmpty, !state.hadChat { return inviteStatus ?? .notReachable }
        return state.undelivered.isEmpty && !state.hasIncompleteTransfer ? .done : .incomplete
    }

    /// The node says goodbye; its last events are still told.
    private mutating func stop(_ status: ExitStatus) {
        guard !isStopping else { return }
        isStopping = true
        self.status = status
        queue.run { [session] in
            await session.stop()
            return nil
        }
    }
}

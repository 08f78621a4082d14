internal import PeerModel
internal import PeerTerminal

/// What the chat command waits for.
enum ChatStep: Sendable {
    case event(NodeEvent)
    case input(InputLine?)
    case terminal(TerminalEvent)
    /// A frame of the live terminal may be due.
    case frame
    /// Nobody was found for a while.
    case nobodySeen
    /// The search for the peers of `--invite` is over.
    case found(Invitees)
    case invited(NodeCommand, Reply)
    case worked(Int, ChatWork.Outcome)
    case interrupted
    /// Ctrl-C in plain lines at a terminal.
    case interruptTyped
    /// The node has stopped and told everything.
    case over
}

/// Joins the node's events and the lines of input: one line at a time, each answered before the next is looked at.
struct ChatLoop {
    /// Texts and offers that may wait for a chat before no more lines are read.
    static let heldAtMost = 256

    let session: any NodeSession
    let run: Run
    let queue: StepQueue<ChatStep>
    let invitees: [PeerReference]
    let wait: Duration

    var teller: ChatTeller
    /// The display, when it is live; the lines then come from it.
    let live: LiveDisplay?
    private let watch = InterruptWatch()
    var state = ChatState()
    let parser: PromptParser
    var lineNumber = 0
    /// Lines entered at the live terminal and not looked at yet.
    var entered: [(number: Int, text: String, begun: Instant)] = []
    /// When the line that is looked at was begun.
    var begun: Instant?
    /// When the chat that was current ended last.
    private(set) var endedAt: Instant?
    /// The questions on the live display may have been answered.
    var isUnsettled = false
    var held: [(line: Int, command: NodeCommand, awaited: Wish)] = []
    /// A `/switch` behind them; until it is done no other line is looked at.
    var heldSwitch: (line: Int, number: Int)?
    /// The command whose reply is awaited.
    private(set) var current: (line: Int, command: NodeCommand, chat: ChatID?)?
    /// Texts that are on their way, for which there may be no room in their chats at the moment.
    private(set) var saying: [(line: Int, command: NodeCommand, chat: ChatID?)] = []
    /// A line is worked at, elsewhere.
    var isWorking = false
    private var isReading = false
    var inputEnded = false
    var isStopping = false
    var quitWasAsked = false
    var status = ExitStatus.done
    var inviteStatus: ExitStatus?

    init(
        session: any NodeSession, run: Run, queue: StepQueue<ChatStep>, invitees: [PeerReference], wait: Duration,
        maximumChats: Int
    ) {
        self.session = session
        self.run = run
        self.queue = queue
        self.invitees = invitees
        self.wait = wait
        live = LiveDisplay(run, me: session.me)
        let display: any ChatDisplay =
            if let live {
                live
            } else if run.console.isJSON {
                JSONDisplay(console: run.console)
            } else {
                PlainDisplay(run, me: session.me)
            }
        teller = ChatTeller(
            display, me: session.me, keepsHistory: run.options.keepsHistory, maximumChats: maximumChats,
            now: run.console.now)
        state.listedAt = run.world.clock()
        parser = PromptParser(paths: run.world.paths, groups: run.options.groups)
    }

    /// Until the input or the user says so and the node has stopped.
    mutating func run() async -> ExitStatus {
        queue.follow(session.events, end: .over) { .event($0) }
        queue.run { [session, run] in await EmptyListHint.isDue(session, run) ? .nobodySeen : nil }
        if !invitees.isEmpty {
            state.isLookingForInvitees = true
            queue.run { [session, invitees, wait, world = run.world] in
                .found(await Invitees.find(invitees, in: session, within: wait, sleep: world.sleep))
            }
        }
        live?.start { [queue, session, watch, world = run.world] event in
            queue.add(.terminal(event))
            guard !watch.isSeen(event, at: world.clock()) else { return }
            Task { await session.stop(within: Self.telling) }
            world.interrupts.leave()
        }
        if live == nil, isInteractive { run.world.interrupts.take { [queue] in queue.add(.interruptTyped) } }
        await advance()
        for await step in queue.steps {
            if case .over = step { break }
            await take(step)
            await advance()
        }
        live?.close()
        run.world.interrupts.take(nil)
        queue.close()
        return status
    }

    private mutating func take(_ step: ChatStep) async {
        switch step {
        case .event(let event): take(event)
        case .input(let line):
            isReading = false
            teller.display.entered()
            guard let line else { return await endOfInput() }
            lineNumber += 1
            await take(line, number: lineNumber)
        case .found(let found): take(found)
        case .invited(let command, let reply):
            state.end(command, reply)
            if case .failed(let error) = reply {
                teller.report(error)
                inviteStatus = error.status
            } else {
                expectChat()
            }
        case .worked(let line, let outcome): take(outcome, line: line)
        case .terminal(let event):
            watch.took(event)
            take(event)
        case .frame: break
        case .nobodySeen: EmptyListHint.lines.forEach(teller.remark)
        case .interrupted: stop(.done, isInterrupted: true)
        case .interruptTyped: await sayWhatEnds()
        case .over: break
        }
    }

    private mutating func take(_ event: NodeEvent) {
        let before = teller.book.current?.id
        teller.tell(event, isAsked: isAsked(event))
        state.note(event, at: run.world.clock())
        followBook()
        if before != nil, !state.isInChat { endedAt = run.world.clock() }
        switch event {
        case .chatStarted, .chatEnded: isUnsettled = true
        case .reply(let line, let reply):
            isUnsettled = true
            if case .joining(let number, let chat, let purpose) = reply {
                state.join(number, chat, purpose)
                if purpose != .file { expectChat() }
            }
            if let index = saying.firstIndex(where: { $0.line == line }) {
                let said = saying.remove(at: index)
                state.end(said.command, in: said.chat, line: line, reply)
            }
            guard let current, current.line == line else { return }
            state.end(current.command, in: current.chat, line: line, reply)
            if case .invite = current.command, !reply.isFailure { expectChat() }
            if case (.doNotDisturb(let isOn), .done) = (current.command, reply) { live?.setRefusing(isOn) }
            if !reply.isFailure { explain(current.command) }
            self.current = nil
        case .inviteDone(_, let answers, let line):
            if line == nil, !invitees.isEmpty { inviteStatus = Invitees.status(of: answers.map(\.1)) }
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
        live?.invite(found.references)
        queue.run { [session] in .invited(command, await session.perform(command, line: nil)) }
    }

    // MARK: Lines

    private mutating func take(_ line: InputLine, number: Int) async {
        switch line {
        case .text(let text):
            await take(run.console.isJSON ? JSONLine.parse(text, with: parser) : parser.parse(text), number: number)
        case .cut: teller.refuse(number, InputLine.cutError)
        case .tooLong:
            teller.refuse(
                number,
                PeerConnectError(.tooLong, "The line is longer than 1 MiB.", hint: "Send it as a file: /send PATH."))
        case .notUTF8:
            teller.refuse(
                number,
                PeerConnectError(.notUTF8, "The line is not valid UTF-8.", hint: "Convert it, as by iconv -t UTF-8."))
        }
    }

    mutating func take(_ line: PromptLine, number: Int) async {
        let isSecondQuit = quitWasAsked
        quitWasAsked = false
        switch line {
        case .nothing: teller.confirm(number)
        case .problem(let error): teller.refuse(number, error)
        case .message(let text):
            guard !isLate(.say(text), number) else { return }
            performInChat(.say(text), line: number)
        case .unnamed(let command):
            if !isInteractive {
                perform(command, line: number)
            } else if let begun, let certain = live?.board.certain(command, begun: begun) {
                perform(certain, line: number)
            } else {
                teller.listOpenItems(number, for: command, await session.snapshot())
            }
        case .command(let command):
            if await namesOneself(command) {
                return teller.refuse(
                    number, PeerConnectError(.noSuchPeer, "That is you yourself.", hint: "/peers lists the others."))
            }
            guard !isLate(command, number) else { return }
            if case .send = command { performInChat(command, line: number) } else { perform(command, line: number) }
        case .peers(let text): teller.listPeers(number, await session.snapshot(), matching: text, causes: whyNobody)
        case .who: teller.listMembers(number, await session.snapshot())
        case .chats: teller.listChats(number)
        case .switchTo(let chat): switchTo(chat, number)
        case .transfers: teller.listTransfers(number, await session.snapshot())
        case .record(let request): await take(request, number: number)
        case .work(let work): begin(work, line: number)
        case .help(let commands): teller.help(number, commands)
        case .quit: await quit(number, isSecond: isSecondQuit)
        }
    }

    /// For what only makes sense in a chat: it waits for one that is about to come.
    private mutating func performInChat(_ command: NodeCommand, line: Int) {
        guard state.holdsTexts else { return perform(command, line: line) }
        held.append((line, command, state.awaited))
        teller.display.expect(Self.text(of: command), line: line, in: nil, isHeld: true)
    }

    mutating func perform(_ command: NodeCommand, line: Int) {
        let chat = teller.book.current?.id
        // First, so that a text that is refused is given back.
        if case .say(let text) = command { teller.display.expect(text, line: line, in: chat, isHeld: false) }
        guard let command = placed(command) else { return teller.refuse(line, teller.inNoChat) }
        if case .say = command { saying.append((line, command, chat)) } else { current = (line, command, chat) }
        state.begin(command, line: line, isHost: teller.book.current?.role == .host)
        if case .invite(let wanted) = command { live?.invite(wanted) }
        queue.run { [session] in
            _ = await session.perform(command, in: chat, line: line)  // the reply comes with the events, in its place
            return nil
        }
    }

    /// Sends what was held, reads on, or ends, and draws; called after every step.
    private mutating func advance() async {
        if live == nil { return await readOn() }
        await settle()
        while let next = nextEntered() { await take(next.line, number: next.number) }
        await readOn()
        draw()
    }

    private mutating func readOn() async {
        guard !isStopping, !isWorking, current == nil, !isSaying else { return }
        performHeld()
        guard current == nil, !isSaying, heldSwitch == nil else { return }
        if inputEnded {
            if held.isEmpty, saying.isEmpty, state.isIdle { stop(finalStatus) }
        } else if live == nil, !isReading, held.count < Self.heldAtMost {
            isReading = true
            queue.run { [input = run.world.input] in .input(await input.next()) }
        }
    }
}

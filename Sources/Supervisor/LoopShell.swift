// Performs the actions of the loop: the only place where its decisions meet sandboxes, files and rows.
//
// A row is on the disk before anything after it happens. An exam runs from the top of `run`, never
// inside an action, so that every other action of its batch has been carried out first.

internal import HostKernel
internal import Benchmarks
internal import ExamResults
public import IterationLoop
internal import LauncherClient
internal import LauncherProtocol
internal import Ledger
internal import LinuxKernel
internal import SandboxPlan
internal import SelfCheck
public import StrictJSON
internal import Workspace

/// Runs the loop of one experiment to its end.
public final class LoopShell {
    let supervision: Supervision
    var machine: LoopMachine
    let repository: CandidateRepository
    var audit: StaticAudit
    let progress: (String) -> Void
    var coding: CodingSandbox?
    var control: RequestSocket?
    var signals: SignalDescriptor?
    /// The watch over `signals`, whose descriptor is closed with this shell.
    var signal: EventLoop.Token?
    var requests: [Int: ConnectionID] = [:]
    /// Answers to the operator's wishes.
    var answers: [Int: JSONValue] = [:]
    var holds = Holds()
    var pendingExam: ExamRequest?
    var runningExam: ExamRun?
    var isCancelling = false
    var lastTrain: Benchmarks.ExamReport?
    var queue: [(event: LoopEvent, asker: Int?)] = []
    /// The connection of the control socket whose event is being taken, until it is answered.
    var asker: Int?
    var end: EndReason?
    var failure: SupervisorError?
    /// Why a run that was ended in order is none that its operator may take for whole.
    var departure: SupervisorError?
    var timer: EventLoop.Token?
    private var start: EventLoop.Token?
    private var follow: EventLoop.Token?
    /// How often the coding agent was started again in this run.
    var restarts = 0
    var restart: EventLoop.Token?
    /// Whether it would be started again now, if no sealed exam of another experiment ran.
    var isRestartHeld = false
    /// Whether the coding agent asked us or a model for something since the last look.
    var showedLife = false
    var life: EventLoop.Token?
    /// Whether the coding agent is being ended: who asks for a hold waits until it is gone.
    var isTidying = false
    /// When the event was taken whose actions are being performed; its rows carry this time.
    var moment = Moment(milliseconds: 0)
    private var isDraining = false
    /// What models may have cost in all when this run ends; nothing where it is not bound.
    let costBound: Int?
    var isCostReached = false
    var lastSnapshot: CandidateSnapshot?
    /// The best candidate, against which the audit measures growth.
    var best: CandidateSnapshot
    var tripwires: TripwireWatch
    /// What the coding agent said to its model, up to where it was looked at.
    var traffic: SharedDescriptor?
    var trafficTail: [UInt8] = []
    var denials = DenialLog()

    /// Prepares a run from the whole record.
    ///
    /// - Parameters:
    ///   - supervision: the supervisor after its root phase.
    ///   - rules: the configuration's budgets.
    ///   - bounds: what this run may use of them.
    ///   - progress: told one line for each thing worth knowing.
    /// - Throws: ``SupervisorError``.
    public init(
        _ supervision: Supervision,
        rules: LoopRules,
        bounds: RunBounds = RunBounds(),
        progress: @escaping (String) -> Void
    ) throws(SupervisorError) {
        self.supervision = supervision
        self.progress = progress
        let entries = try ledgered { () throws(LedgerError) in try supervision.ledger.entries() }
        var rules = rules
        rules.rolloutMilliseconds = supervision.inputs.rolloutMilliseconds
        rules.uncountedBits = supervision.bitsOfCutOff
        rules.watch(supervision.inputs.benchmark.manifest.watchful, split: entries)
        var facts = ["launcher_level": JSONValue.string(supervision.measured.level.name)]
        facts["bounds"] = bounds.facts
        facts["broker_plan"] = supervision.inputs.models.map { .string($0.planDigest) }
        machine = try looped { () throws(LoopError) in
            let state = try CampaignState(replaying: entries.map(RecordedRow.init))
            rules.extend(by: try BudgetExtension(adding: entries.of(.extended)))
            rules.bind(bounds, after: state.usage)
            rules.clusters = supervision.inputs.benchmark.families(of: state.train)
            return try LoopMachine(state: state, rules: rules, facts: .object(facts))
        }
        if let genesis = machine.state.genesis {
            try supervision.requireUnchanged(genesis)
            try supervision.noteTiers(genesis)
            try supervision.joinTurns()
            try supervision.requireOwnSplit()
            try supervision.hideCutOff(machine.state.runningExam)
        }
        supervision.report(waitsTo: progress)
        costBound = bounds.microdollars.map { $0 + (supervision.models?.cost ?? 0) }
        let id = supervision.inputs.experiment.id
        repository = CandidateRepository(at: supervision.layout.repository(id))
        audit = supervision.inputs.audit(train: machine.state.train)
        best = supervision.inputs.agent
        tripwires = try supervision.tripwires()
        tripwires.told = Self.toldBefore(entries)
        try supervision.noteKeptTraces { audit.note(traces: $0) }
    }

    /// Where the experiment stands.
    public var state: CampaignState { machine.state }

    /// Runs until a stop rule holds, and leaves nothing running.
    ///
    /// - Returns: why it ended.
    public func run() throws(SupervisorError) -> EndReason {
        try beginPublishing()
        try openControl()
        let agent = try currentAgent()
        if machine.rules.hasCodingAgent {
            coding = try CodingSandbox(
                supervision,
                agent: agent,
                onRequest: { [unowned self] number, bytes in
                    requests[number] = ConnectionID(number)
                    showedLife = true
                    post(.request(ConnectionID(number), bytes))
                },
                onEnd: { [unowned self] number in
                    guard let id = requests.removeValue(forKey: number) else { return }
                    post(.disconnected(id))
                },
                onResistance: { [unowned self] failure in
                    post(
                        .refused(
                            RefusalRecord(
                                .attempt,
                                layer: "freezer",
                                attempt: "go on running where it has to stand still",
                                detail: failure.reason,
                                iteration: machine.workingIteration,
                                by: "coding-agent"
                            )
                        )
                    )
                }
            )
            coding?.onTrouble = { [unowned self] error in fail(error) }
            try restoreTraces()
            supervision.turn.onShare = { [unowned self] mayRun throws(SupervisorError) in
                try coding?.setMayRun(mayRun)
            }
        }
        watchLauncher()
        watchDenials()
        watchModels()
        followLife()
        post(.start)
        do throws(SupervisorError) {
            try serve()
        } catch {
            tidyAfterError()
            throw error
        }
        try tidy()
        if let departure { throw departure }
        return end ?? .stopped(reason: "the run ended")
    }

    /// Carries out one wish of the operator without a coding agent: the file judged is the one in
    /// the experiment's directory.
    ///
    /// - Parameter wishes: requests as a coding agent would make them, each after the other's answer.
    /// - Returns: the last answer.
    /// - Throws: ``SupervisorError``.
    public func carryOut(_ wishes: [JSONValue]) throws(SupervisorError) -> JSONValue {
        try beginPublishing()
        try openControl()
        watchLauncher()
        watchModels()
        post(.start)
        var answer: JSONValue = .null
        do throws(SupervisorError) {
            for (number, wish) in wishes.enumerated() {
                requests[number] = ConnectionID(number)
                post(.request(ConnectionID(number), wish.canonicalBytes))
                try serve(until: { answers[number] != nil })
                answer = answers[number] ?? .null
                if answer["ok"]?.boolValue != true { break }
            }
            if end == nil { post(.stop(reason: "the operator's wish is carried out")) }
            try serve(until: { false })
        } catch {
            tidyAfterError()
            throw error
        }
        try tidy()
        if let departure { throw departure }
        return answer
    }

    private func serve(until condition: () -> Bool = { false }) throws(SupervisorError) {
        while end == nil, !condition() {
            try drainQueue()
            if let failure { throw failure }
            if end != nil || condition() { return }
            if let exam = pendingExam {
                pendingExam = nil
                try perform(exam)
                continue
            }
            try system("wait for events", "event loop") { () throws(SystemError) in
                try supervision.loop.turn(atMost: nil)
            }
        }
    }

    // MARK: - events

    // While an exam runs its own loop, events are taken by a deadline of that loop: a status question,
    // a pause or a stop must not wait for the exam's end.
    //
    // An asker is the connection of the control socket that hears what became of the event.
    func post(_ event: LoopEvent, for asker: Int? = nil) {
        queue.append((event: event, asker: asker))
        guard runningExam != nil else { return }
        // Weak: a loop that turns once more when the exam is over may outlive what it was told here.
        _ = supervision.loop.at(MonotonicTime.now) { [weak self] in
            guard let self else { return }
            do throws(SupervisorError) { try drainQueue() } catch {
                failure = error
                cancelExam()
            }
        }
    }

    func drainQueue() throws(SupervisorError) {
        guard !isDraining else { return }
        isDraining = true
        defer { isDraining = false }
        while !queue.isEmpty, end == nil {
            let first = queue.removeFirst()
            let event = first.event
            asker = first.asker
            let now = Moment(milliseconds: WallClock.milliseconds)
            moment = now
            let actions: [LoopAction]
            do throws(LoopError) {
                actions = try machine.receive(event, at: now)
            } catch {
                // What cannot happen in this phase changed nothing; whoever asked is told.
                if case .request(let connection, _) = event {
                    answer(connection, Self.refusal(error))
                }
                answerAsker(Self.notExtended("\(error)"))
                continue
            }
            for action in actions { try perform(action) }
            try followJudging()
            setTimer()
        }
    }

    private func setTimer() {
        supervision.loop.forget(timer)
        guard let deadline = machine.nextDeadline else { return timer = nil }
        let left = max(0, deadline.milliseconds - WallClock.milliseconds)
        let time = MonotonicTime.now.advanced(by: .milliseconds(UInt64(left)))
        timer = supervision.loop.at(time) { [unowned self] in post(.tick) }
    }

    // MARK: - actions

    func perform(_ action: LoopAction) throws(SupervisorError) {
        switch action {
        case .record(let event): try append(event)
        case .startAgent: try startAgent()
        case .freezeAgent: try coding?.setFreezeWanted(true)
        case .thawAgent: try coding?.setFreezeWanted(false)
        case .takeSnapshot(let purpose): try takeSnapshot(purpose)
        case .runExam(let request): pendingExam = request
        case .cancelExam: cancelExam()
        case .accept(let commit):
            try workspace { () throws(WorkspaceError) in try repository.accept(CommitName(commit)) }
            best = try candidate(of: commit)
        case .restore(_, let commit): try restore(commit)
        case .publishTraces: try publishTraces()
        case .render: try render()
        case .reply(let connection, let value): answer(connection, value)
        case .replyStatus(let connection, let value): try replyStatus(connection, value)
        case .replyDifference(let connection, let commit): try replyDifference(connection, commit)
        case .endRun(let reason): end = reason
        }
    }

    /// Starts the coding agent, as soon as no sealed exam of another experiment runs: whoever runs one
    /// has the lock, and asked only those to hold their agents who had begun before.
    func startAgent() throws(SupervisorError) {
        guard try supervision.turn.takeShare() else {
            if start == nil {
                let other = supervision.turn.agentWait?.experiment
                progress(
                    "the coding agent waits for another experiment's sealed exam"
                        + (other.map { ", of experiment \($0)" } ?? "")
                )
            }
            supervision.tellWaits()
            start = supervision.loop.at(MonotonicTime.now.advanced(by: ControlQuestion.step)) {
                [unowned self] in
                do throws(SupervisorError) { try startAgent() } catch { failure = error }
            }
            return
        }
        try startAgentProcess(isAgain: false)
        progress("coding agent \(supervision.inputs.codingAgent.name) started")
        followTurn()
    }

    /// Looks again and again whether a sealed exam of this host wants our coding agent frozen.
    private func followTurn() {
        follow = supervision.loop.at(MonotonicTime.now.advanced(by: ControlQuestion.step)) {
            [unowned self] in
            do throws(SupervisorError) {
                try supervision.turn.follow(wantsToRun: wantsToRun)
                supervision.tellWaits()
                followTurn()
            } catch {
                fail(error)
            }
        }
    }

    // Time in which the agent is frozen for us, waits for an answer of ours, or has ended is none that it
    // lacks. Where nothing can be frozen, it never waits once it runs.
    private var wantsToRun: Bool {
        guard end == nil, !isTidying, let coding, supervision.quickSet.canFreeze else {
            return false
        }
        return !machine.isAgentFrozen && requests.isEmpty && (coding.isAlive || isRestartHeld)
    }

    /// Ends the run, whatever it does now.
    func fail(_ error: SupervisorError) {
        if failure == nil { failure = error }
        cancelExam()
    }

    func answer(_ connection: ConnectionID, _ value: JSONValue) {
        guard requests.removeValue(forKey: connection.number) != nil else { return }
        showedLife = true
        answers[connection.number] = machine.rules.hasCodingAgent ? nil : value
        coding?.socket.answer(connection.number, value)
    }

    // MARK: - the end

    // Without its launcher a run is over, and so is an exam that waits for exits.
    private func watchLauncher() {
        supervision.launcher.onLost = { [unowned self] in
            failure = SupervisorError(LauncherError.lost(during: "run the loop"))
            runningExam?.cancel()
        }
    }

    // What went wrong first is what a person needs to read.
    private func tidyAfterError() {
        do throws(SupervisorError) { try tidy() } catch {}
    }

    private func tidy() throws(SupervisorError) {
        supervision.loop.forget(timer)
        supervision.loop.forget(start)
        supervision.loop.forget(follow)
        supervision.loop.forget(restart)
        supervision.loop.forget(life)
        supervision.loop.forget(signal)
        supervision.turn.onShare = { _ in }
        supervision.launcher.onLost = {}
        isTidying = true
        refuseAskers()
        let coding = coding
        self.coding = nil
        if failure == nil {
            try coding?.end()
            // What the broker told up to the end of the agent's listener, the loop delivers.
            try system("wait for events", "event loop") { () throws(SystemError) in
                try supervision.loop.turn(atMost: .milliseconds(0))
            }
            try recordModelUsage()
            try supervision.turn.giveBackShare()
            try supervision.turn.endAgent()
        } else {
            // Rows may be what failed.
            supervision.keepUnbooked()
        }
        // The broker may go on telling of calls until it is ended.
        supervision.models?.forgetListeners()
        control?.close()
        control = nil
        try supervision.removeSocket(ControlFile.name)
        if failure == nil { try supervision.prune(progress: progress) }
        try supervision.notifier?.settle()
        try endPublishing()
    }
}

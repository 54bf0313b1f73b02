// The order of one submission, and why:
//   freeze, copy out, thaw     the agent cannot change what is copied, and loses milliseconds;
//   snapshot, audit, intent    rows before work, so that nothing runs that no row announces;
//   ticket                     the agent's own call ends; it is not cut off in the middle of one;
//   freeze                     when it waits for us, or after the grace: from here to the release
//                              no program of the agent runs beside a sealed exam;
//   suite, then sealed         a broken suite spends no sealed query;
//   decision, then accept      the row first: a crash between them is repaired at the next start;
//   recheck, promotion         still frozen;
//   release on the grid        row, views, replies, thaw.

public import StrictJSON

/// A run of the loop as a value: events go in, actions come out.
///
/// The machine never looks at a clock, a file or a process. Every row that it wants recorded it
/// has already applied to its own ``state``, so a replay of those rows gives the same state.
public struct LoopMachine: Sendable, Equatable {
    /// Where the experiment stands.
    public internal(set) var state: CampaignState
    /// What the run may use and how it behaves.
    public internal(set) var rules: LoopRules
    let genesis: GenesisRecord
    let facts: JSONValue

    var current = Phase.idle
    var agent = AgentProcess.notStarted
    var isFrozen = false
    var wantsFreeze = false
    var stopping: EndReason?
    var answers: [String: JSONValue] = [:]
    var refusals = 0
    var reverts = 0
    /// What the coding agent looked at since it last asked for an exam.
    var statuses = 0
    var differences = 0
    var now = Moment(milliseconds: 0)
    private var actions: [LoopAction] = []
    #if LayerSwitches
    /// Whether the next train exam runs on sealed tasks, for want of a table of requests.
    var trainsOnSealed = false
    #endif

    /// Makes the machine of a run that has not begun.
    ///
    /// - Parameters:
    ///   - state: the replay of the whole ledger.
    ///   - rules: what the run may use and how it behaves.
    ///   - facts: what to keep of the host and the program in the run's first row; an object.
    /// - Throws: ``LoopError/notPrepared(missing:)``.
    public init(
        state: CampaignState,
        rules: LoopRules,
        facts: JSONValue = [:]
    ) throws(LoopError) {
        guard let genesis = state.genesis else { throw .notPrepared(missing: "genesis row") }
        guard state.best != nil else { throw .notPrepared(missing: "baseline row") }
        self.state = state
        self.rules = rules
        self.genesis = genesis
        self.facts = facts
    }

    /// What the run is doing.
    public var phase: LoopPhase { current.word }

    /// Whether an exam is running, which the shell must answer before another can begin.
    public var isExamining: Bool {
        switch current {
        case .training: true
        case .judging(let judgement):
            if case .examining = judgement.stage { true } else { false }
        case .idle, .editing, .copying, .ended: false
        }
    }

    /// Whether the coding agent runs and is frozen.
    public var isAgentFrozen: Bool { isFrozen }

    /// The iteration that the coding agent works on.
    public var workingIteration: Int { state.open?.intent.iteration ?? state.iteration + 1 }

    /// When the machine wants a ``LoopEvent/tick``, if nothing else happens before.
    public var nextDeadline: Moment? {
        guard !state.isPaused else { return nil }
        switch current {
        case .idle, .copying, .training, .ended: return nil
        case .editing:
            guard rules.hasCodingAgent else { return nil }
            let left = rules.runMilliseconds - state.elapsedMilliseconds(at: now)
            return now.later(by: max(0, left))
        case .judging(let judgement):
            switch judgement.stage {
            case .queued(let until): return until
            case .releasing(let at): return at
            case .ready, .examining: return nil
            }
        }
    }

    /// Takes an event.
    ///
    /// - Parameters:
    ///   - event: what happened.
    ///   - now: when; rows that come out are recorded with this time.
    /// - Returns: what to do, in order.
    /// - Throws: ``LoopError/unexpected(event:phase:)`` for an event that cannot happen in this
    ///   phase; then the machine is as before.
    public mutating func receive(
        _ event: LoopEvent,
        at now: Moment
    ) throws(LoopError) -> [LoopAction] {
        var next = self
        next.now = now
        next.actions = []
        if now < self.now { next.setMomentsAnew() }
        try next.take(event)
        try next.advance()
        let actions = next.actions
        next.actions = []
        self = next
        return actions
    }

    private mutating func take(_ event: LoopEvent) throws(LoopError) {
        switch event {
        case .start: try start()
        case .request(let connection, let bytes): try request(bytes, from: connection)
        case .disconnected(let connection): forget(connection)
        case .agentWaits: noteWaiting()
        case .agentExited(let how): try noteExit(how)
        case .snapshotTaken(let facts): try takeSnapshot(facts)
        case .snapshotRefused(let code, let reason, let remedy):
            try refuseSnapshot(code, reason, remedy)
        case .snapshotFailed(let reason): try failSnapshot(reason)
        case .restored(let isChanged): try noteRestored(isChanged: isChanged)
        case .examEnded(let report): try endExam(report)
        case .examCancelled: try endCancelled()
        case .refused(let record): try note(record)
        case .tripped(let record): try note(record)
        case .pause, .resume: try setPaused(event == .pause)
        case .stop(let reason): try stop(reason)
        case .rules(let change): try take(change)
        case .tick: break
        }
    }

    /// Adds an action.
    mutating func act(_ action: LoopAction) { actions.append(action) }

    /// Adds a row and applies it at once.
    mutating func record(_ event: LedgerEvent) throws(LoopError) {
        try state.apply(event, at: now, sequence: 0)
        actions.append(.record(event))
    }

    /// The error for an event that cannot happen now.
    func unexpected(_ event: LoopEvent) -> LoopError {
        .unexpected(event: event.name, phase: phase.rawValue)
    }

    /// Freezes or thaws where what is wanted and what is differ.
    mutating func syncFreeze() {
        guard case .running = agent else { return }
        let wanted = wantsFreeze || state.isPaused
        guard wanted != isFrozen else { return }
        isFrozen = wanted
        act(wanted ? .freezeAgent : .thawAgent)
    }
}

// The shell that runs one exam: it starts sandboxes, moves bytes, keeps clocks, and carries out what the
// relays decide.
//
// Order: trees, examiner, rollouts up to the limit, each with a fresh sandbox; `finish` when every rollout is
// settled; the end of the verdict channel; then everything is killed, waited for and counted. A rollout's
// session is known to the verdict collector before the examiner hears of it, all of a candidate's bytes are
// given to its relay before its end is, and the examiner's conversation is read before its verdicts.

internal import ExamResults
internal import LauncherClient
internal import LinuxKernel
internal import SandboxPlan

/// One exam of one candidate over tasks of one split.
public final class ExamRun {
    let site: ExamSite
    let order: ExamOrder
    var sheets: ExamSheets
    /// The rollouts that were not begun, the next one last.
    var waiting: [Seat]
    var rollouts: [SessionID: Rollout] = [:]
    var collector: VerdictCollector
    var stream: ExaminerStream
    var examiner: ExamProcess?
    var examinerErrors = ""
    /// The candidate's, the examiner's and, where it takes part, the incumbent's.
    var trees: [SandboxTree] = []
    /// Sandboxes of candidates that are not gone, all of them of one arm.
    var living = 0
    var armOfLiving = ExamArm.candidate
    /// Sandboxes that were started so far.
    var started = 0
    var isVoid = false
    var voidReason: String?
    var isFinishing = false
    var hasVerdictsEnd = false
    /// What makes every further exam impossible.
    var failure: ExamRunError?
    private var examinerClock: EventLoop.Token?

    /// Prepares an exam; nothing is started yet.
    ///
    /// - Parameters:
    ///   - site: what every exam of the experiment needs.
    ///   - order: what is to be run.
    /// - Throws: ``ExamRunError/order(_:)``.
    public init(site: ExamSite, order: ExamOrder) throws(ExamRunError) {
        self.site = site
        self.order = order
        do throws(ExamError) {
            sheets = try ExamSheets(order)
        } catch {
            throw .order(error)
        }
        waiting = order.seats.reversed()
        let count = order.rolloutCount
        collector = VerdictCollector(split: order.split, limits: .verdicts(sessions: count))
        stream = ExaminerStream(
            benchmark: site.benchmark.name,
            version: site.benchmark.version,
            limits: .examiner(sessions: count)
        )
    }

    var loop: EventLoop { site.launcher.loop }

    /// How many rollouts have an outcome.
    public var settled: Int { rollouts.values.count { $0.outcome != nil } }

    /// Runs the exam to its end, serving whatever else the loop watches.
    ///
    /// When it returns or throws, every sandbox and tree of the exam is gone.
    ///
    /// - Returns: the report, void where the supervisor's side broke.
    /// - Throws: ``ExamRunError``.
    public func run() throws(ExamRunError) -> ExamReport {
        let beginning = MonotonicTime.now
        guard let examinerPlan = site.examinerPlans[order.split] else {
            throw .noExaminerPlan(order.split)
        }
        // A candidate that dies while we write to it must not take us along.
        CurrentProcess.ignorePipeSignal()
        let onLost = site.launcher.onLost
        site.launcher.onLost = { [unowned self] in
            onLost()
            fail(.launcherLost(.lost(during: "run an exam")))
        }
        defer { site.launcher.onLost = onLost }
        start(try scaled(examinerPlan))
        wait { isOver }
        startRest()
        removeEverything()
        if let failure { throw failure }
        return ExamReport(
            results: sheets.closed(),
            records: keptRecords,
            unstarted: order.rolloutCount + 1 - started,
            voidReason: voidReason,
            examinerErrors: examinerErrors,
            duration: MonotonicTime.now.since(beginning),
            candidatePlan: site.candidatePlan.digest,
            examinerPlan: examinerPlan.digest
        )
    }

    // One examiner serves all rollouts, and its policy says what it may take for one of them.
    private func scaled(_ plan: CompiledPlan) throws(ExamRunError) -> CompiledPlan {
        do throws(PlanError) {
            var plan = try plan.plan()
            let all = UInt64(plan.limits.objects) * UInt64(order.rolloutCount)
            plan.limits.objects = UInt32(min(all, UInt64(CountedCalls.most)))
            return CompiledPlan(plan)
        } catch { throw .badPlan(error) }
    }

    private var isOver: Bool {
        failure != nil || isVoid || (isFinishing && hasVerdictsEnd)
    }

    private var keptRecords: [TaskID: RolloutRecord] {
        guard !order.isSealed else { return [:] }
        // Of a task that is run several times the last trial is shown.
        let shown = rollouts.values.filter {
            $0.seat.arm == .candidate && $0.seat.trial == order.trials - 1
        }
        return Dictionary(uniqueKeysWithValues: shown.map { ($0.seat.task, $0.kept) })
    }

    // MARK: - what breaks

    /// Voids the exam; the first reason stays.
    func void(_ fault: InfrastructureFault, _ reason: String) {
        guard !isVoid else { return }
        isVoid = true
        voidReason = "\(fault.rawValue): \(reason)"
        sheets.void(fault)
    }

    func void(_ broken: ExamBreak) {
        switch broken {
        case .void(let fault, let reason): void(fault, reason)
        case .lost(let error): fail(.launcherLost(error))
        }
    }

    /// An examiner's own words are not repeated where they may concern a sealed task.
    func void(_ fault: InfrastructureFault, saying words: some CustomStringConvertible) {
        void(fault, order.isSealed ? "see the train split for details" : "\(words)")
    }

    func fail(_ error: ExamRunError) {
        if failure == nil { failure = error }
    }

    // MARK: - the end

    /// Starts and kills those sandboxes that a void sealed exam planned and had not begun.
    ///
    /// Each takes numbers of the whole host, of mounts and of sessions, which a coding agent can read: how many
    /// an exam started would tell when it broke, and that a candidate may have chosen.
    private func startRest() {
        guard order.isSealed, isVoid, let tree = trees.first else { return }
        killRollouts()
        while failure == nil, started <= order.rolloutCount {
            let isRoom = waitForExits(site.patience.removal) { living < order.maximumConcurrency }
            guard isRoom else { return }
            do throws(ExamBreak) {
                let rest = try ExamProcess(
                    ExamProcess.Description(
                        plan: site.candidatePlan,
                        tree: tree,
                        command: site.candidate.command,
                        hasVerdicts: false,
                        keepsErrors: false,
                        queueBytes: 0
                    ),
                    on: site.launcher,
                    ExamProcess.Listeners(
                        onFrames: { _ in },
                        onExit: { [weak self] _ in self?.living -= 1 }
                    )
                )
                (living, started) = (living + 1, started + 1)
                try rest.join(nil, as: .candidate, isSealed: true)
                try rest.kill()
            } catch { return void(error) }
        }
    }

    private func wait(until condition: () -> Bool) {
        do throws(SystemError) {
            try loop.run(until: condition)
        } catch {
            fail(.loop(error))
        }
    }

    private func removeEverything() {
        loop.forget(examinerClock)
        killRollouts()
        if isVoid || failure != nil { kill(examiner) }
        let areGone = { [unowned self] in living == 0 && examiner == nil }
        waitForExits(site.patience.examiner, until: areGone)
        kill(examiner)
        waitForExits(site.patience.removal, until: areGone)
        for tree in trees { drop(tree) }
        let left = living + (examiner == nil ? 0 : 1)
        if failure == nil, left + trees.count > 0 {
            fail(.leftBehind(sandboxes: left, trees: trees.count))
        }
        examiner = nil
        for rollout in rollouts.values { rollout.candidate = nil }
        trees = []
    }

    private func killRollouts() {
        for rollout in rollouts.values {
            rollout.stopClocks()
            kill(rollout.candidate)
        }
    }

    /// Whether a condition came to hold in time.
    @discardableResult
    private func waitForExits(_ span: Nanoseconds, until condition: () -> Bool) -> Bool {
        var isLate = false
        let token = loop.at(MonotonicTime.now.advanced(by: span)) { isLate = true }
        wait { isLate || isDeaf || condition() }
        loop.forget(token)
        return condition()
    }

    /// Whether no exit can reach us any more: without a launcher nobody reports them, but its
    /// sandboxes die with it.
    private var isDeaf: Bool {
        switch failure {
        case .launcherLost, .loop: true
        case .order, .noExaminerPlan, .badPlan, .leftBehind, nil: false
        }
    }

    func kill(_ process: ExamProcess?) {
        guard let process else { return }
        do throws(ExamBreak) { try process.kill() } catch { void(error) }
    }

    private func drop(_ tree: SandboxTree) {
        do throws(LauncherError) {
            try site.launcher.drop(tree)
            trees.removeAll { $0 === tree }
        } catch {
            void(ExamBreak(error))
        }
    }

    /// Starts the clock of the examiner's own silence from the beginning.
    func restartExaminerClock(_ operation: String) {
        loop.forget(examinerClock)
        examinerClock = loop.at(MonotonicTime.now.advanced(by: site.patience.examiner)) {
            [unowned self] in void(.examinerDied, "\(operation): the examiner did not in time")
        }
    }

    func stopExaminerClock() {
        loop.forget(examinerClock)
    }
}

internal import DenialEvents
internal import IterationLoop
internal import LauncherClient
internal import SandboxPlan
internal import Workspace

/// What filters and Landlock refused in this run, on its way to the record.
///
/// Those of the coding agent are written as they come. Those of an exam's sandboxes wait for its end and
/// are written as kinds and counts, so that no row tells when in an exam a call was made; of a sealed exam
/// not even the programs' names, nor any path. Nothing here is ever shown to the coding agent.
struct DenialLog {
    // A run's rows of the coding agent, and an exam's of each side; a flood is a count in one of them.
    private static let mostOfAgent = 64
    private static let mostOfExam = 16

    private var agent = DenialTally(mostEntries: Self.mostOfAgent)
    private var exam: [ExamSandbox] = []
    private var losses: UInt64 = 0

    private struct ExamSandbox {
        let id: UInt32
        let author: String
        var events: [DenialEvent]
    }

    /// What is to be written now of the coding agent's calls.
    mutating func noteAgent(
        _ sandbox: RunningSandbox,
        _ events: [DenialEvent],
        hasEnded: Bool,
        iteration: Int
    ) -> [RefusalRecord] {
        func record(_ event: DenialEvent) -> RefusalRecord {
            RefusalRecord(event, by: "coding-agent", iteration: iteration)
        }
        var records = agent.note(events, of: sandbox.id).map(record)
        guard hasEnded else { return records }
        let last = agent.end(events, of: sandbox.id)
        records += last.events.map(record)
        if last.further > 0 {
            records.append(
                RefusalRecord(further: last.further, by: "coding-agent", iteration: iteration)
            )
        }
        return records
    }

    /// How often audit records were lost since this was last asked.
    mutating func newLosses(of all: UInt64) -> UInt64 {
        defer { losses = all }
        return all &- losses
    }

    /// Keeps the counts so far of one sandbox of an exam.
    mutating func noteExam(
        _ sandbox: RunningSandbox,
        _ events: [DenialEvent],
        author: String
    ) {
        let known = exam.firstIndex { $0.id == sandbox.id }
        if let known {
            exam[known].events = events
        } else {
            exam.append(ExamSandbox(id: sandbox.id, author: author, events: events))
        }
    }

    /// What of an exam is to be written at its end.
    mutating func endExam(isSealed: Bool, iteration: Int) -> [RefusalRecord] {
        defer { exam = [] }
        return ["candidate", "examiner", "broker"].flatMap { author -> [RefusalRecord] in
            var sums: [DenialEvent] = []
            for told in exam.filter({ $0.author == author }).flatMap(\.events) {
                let event = isSealed ? told.nameless : told
                let known = sums.firstIndex {
                    $0.attempt == event.attempt && $0.layer == event.layer
                }
                if let known {
                    let graver = sums[known].cure == nil ? sums[known] : event
                    sums[known] = graver.counted(sums[known].count &+ event.count)
                } else {
                    sums.append(event)
                }
            }
            // What no policy allows comes first: nobody can crowd it out with what is harmless.
            sums = sums.filter { $0.cure == nil } + sums.filter { $0.cure != nil }
            let further = sums.dropFirst(Self.mostOfExam).reduce(UInt64(0)) { $0 &+ $1.count }
            let records = sums.prefix(Self.mostOfExam).map {
                RefusalRecord($0, by: author, iteration: iteration)
            }
            guard further > 0 else { return records }
            return records + [RefusalRecord(further: further, by: author, iteration: iteration)]
        }
    }
}

extension RefusalRecord {
    fileprivate init(
        _ event: DenialEvent,
        by author: String,
        iteration: Int
    ) {
        self.init(
            .denied,
            layer: event.layer,
            attempt: event.attempt,
            detail: event.detail,
            iteration: iteration,
            by: author
        )
        count = Int(clamping: event.count)
    }

    // Of both walls: what they refused is one budget of rows.
    fileprivate init(further: UInt64, by author: String, iteration: Int) {
        self.init(
            .denied,
            layer: Layer.filter.rawValue,
            attempt: DenialTally.further,
            detail: "no more rows are written for single kinds",
            iteration: iteration,
            by: author
        )
        count = Int(clamping: further)
    }

    fileprivate init(lostRecords count: UInt64, iteration: Int) {
        self.init(
            .denied,
            layer: Layer.landlock.rawValue,
            attempt: "records lost",
            detail: "audit records came faster than they were read: counts are at least so high",
            iteration: iteration,
            by: "supervisor"
        )
        self.count = Int(clamping: count)
    }
}

extension LoopShell {
    /// Takes what the walls of this run's sandboxes refuse and tell to the record.
    func watchDenials() {
        supervision.launcher.onDenied = { [weak self] sandbox in self?.noteDenials(sandbox) }
        supervision.landlock?.onChange = { [weak self] sandbox in self?.noteDenials(sandbox) }
        if let gap = supervision.landlockGap { progress(gap) }
    }

    /// Counts what is still to come of an exam whose sandboxes are gone, while it is known which it was.
    func catchUpWithRecords() { supervision.landlock?.catchUp() }

    /// Writes what an exam's sandboxes were refused, at its end.
    func endExamDenials(isSealed: Bool, iteration: Int) {
        for record in denials.endExam(isSealed: isSealed, iteration: iteration) {
            post(.refused(record))
        }
        supervision.landlock?.forgetEnded()
        noteLostRecords(iteration: iteration)
    }

    private func noteLostRecords(iteration: Int) {
        let lost = denials.newLosses(of: supervision.landlock?.losses ?? 0)
        if lost > 0 { post(.refused(RefusalRecord(lostRecords: lost, iteration: iteration))) }
    }

    private func noteDenials(_ sandbox: RunningSandbox) {
        if let agent = coding?.sandbox, agent === sandbox { return noteAgentDenials(sandbox) }
        // What is told of an exam's sandbox when the exam is over belongs to no row.
        guard runningExam != nil else { return }
        let plans = supervision.inputs.plans
        let author =
            switch sandbox.planDigest {
            case plans.candidate.digest: "candidate"
            case plans.trainExaminer.digest, plans.testExaminer.digest: "examiner"
            default: "broker"
            }
        denials.noteExam(sandbox, supervision.denials(of: sandbox), author: author)
    }

    /// Writes what the coding agent was refused; at its end, what is not written yet.
    func noteAgentDenials(_ sandbox: RunningSandbox, hasEnded: Bool = false) {
        if hasEnded { supervision.landlock?.settle(sandbox) }
        let records = denials.noteAgent(
            sandbox,
            supervision.denials(of: sandbox),
            hasEnded: hasEnded,
            iteration: machine.workingIteration
        )
        for record in records { post(.refused(record)) }
        if hasEnded { noteLostRecords(iteration: machine.workingIteration) }
    }
}

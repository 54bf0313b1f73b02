internal import DenialEvents
internal import IterationLoop
internal import LauncherClient
internal import SandboxPlan
internal import Workspace

/// The calls that filters refused in this run, on their way to the record.
///
/// Those of the coding agent are written as they come. Those of an exam's sandboxes wait for its end and
/// are written as kinds and counts, so that no row tells when in an exam a call was made; of a sealed exam
/// not even the programs' names. Nothing here is ever shown to the coding agent.
struct DenialLog {
    // A run's rows of the coding agent, and an exam's of each side; a flood is a count in one of them.
    private static let mostOfAgent = 64
    private static let mostOfExam = 16

    private var agent = DenialTally(mostEntries: Self.mostOfAgent)
    private var exam: [ExamSandbox] = []

    private struct ExamSandbox {
        let id: UInt32
        let author: String
        var events: [DenialEvent]
    }

    /// What is to be written now of the coding agent's calls.
    mutating func noteAgent(
        _ sandbox: RunningSandbox,
        hasEnded: Bool,
        iteration: Int
    ) -> [RefusalRecord] {
        let events = DenialEvent.events(in: sandbox.denials)
        func record(_ event: DenialEvent) -> RefusalRecord {
            RefusalRecord(event, by: "coding-agent", iteration: iteration, namesProgram: true)
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

    /// Keeps the counts so far of one sandbox of an exam.
    mutating func noteExam(_ sandbox: RunningSandbox, author: String) {
        let events = DenialEvent.events(in: sandbox.denials)
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
            for event in exam.filter({ $0.author == author }).flatMap(\.events) {
                let known = sums.firstIndex { $0.attempt == event.attempt }
                if let known {
                    sums[known] = sums[known].counted(sums[known].count &+ event.count)
                } else {
                    sums.append(event)
                }
            }
            // What no policy allows comes first: nobody can crowd it out with what is harmless.
            sums = sums.filter { $0.cure == nil } + sums.filter { $0.cure != nil }
            let further = sums.dropFirst(Self.mostOfExam).reduce(UInt64(0)) { $0 &+ $1.count }
            let records = sums.prefix(Self.mostOfExam).map {
                RefusalRecord($0, by: author, iteration: iteration, namesProgram: !isSealed)
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
        iteration: Int,
        namesProgram: Bool
    ) {
        let program = namesProgram ? "first by «\(event.program)»; " : ""
        self.init(
            layer: DenialEvent.layer,
            attempt: event.attempt,
            detail: program + event.advice,
            iteration: iteration,
            by: author
        )
        count = Int(clamping: event.count)
    }

    fileprivate init(further: UInt64, by author: String, iteration: Int) {
        self.init(
            layer: DenialEvent.layer,
            attempt: DenialTally.further,
            detail: "no more rows are written for single kinds",
            iteration: iteration,
            by: author
        )
        count = Int(clamping: further)
    }
}

extension LoopShell {
    /// Takes what the filters of this run's sandboxes refuse to the record.
    func watchDenials() {
        supervision.launcher.onDenied = { [weak self] sandbox in self?.noteDenials(sandbox) }
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
        denials.noteExam(sandbox, author: author)
    }

    /// Writes what the coding agent was refused; at its end, what is not written yet.
    func noteAgentDenials(_ sandbox: RunningSandbox, hasEnded: Bool = false) {
        let records = denials.noteAgent(
            sandbox,
            hasEnded: hasEnded,
            iteration: machine.workingIteration
        )
        for record in records { post(.refused(record)) }
    }
}

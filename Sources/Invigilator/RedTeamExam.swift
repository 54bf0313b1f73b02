// Attacks on the conversation and the grader: one exam with the shipped relay, in which each task names an
// attack, and on the control a harness that believes what it reads, in a sandbox of its own.

internal import Benchmarks
internal import ExamResults
internal import LauncherClient
internal import LinuxKernel
internal import RedTeam
internal import SandboxPlan
internal import StrictJSON
internal import Supervisor

/// The red team's own benchmark.
struct RedTeamExam {
    private let site: ExamSite
    private let candidate: [UInt8]
    private let files: [ExamFile]

    private static let folder = "templates/red-team/"
    private static let shim = [
        "run.py", "lib/invigilator_agent/__init__.py", "lib/invigilator_agent/endpoint.py",
    ]
    private static let frames = "lib/invigilator_agent/frames.py"
    private static let python = ["/usr/bin/python3", "-I", "-S", "-B"]
    // Longer than a loaded host takes to start Python; one attack waits for its end.
    private static let patience = Nanoseconds.milliseconds(2500)

    /// Reads the programs and puts the exam's site together.
    ///
    /// - Parameters:
    ///   - place: where sandboxes are started.
    ///   - installation: where the programs lie.
    ///   - candidate: the plan of a candidate's sandbox.
    ///   - examiner: the plan of the examiner's sandbox.
    /// - Throws: ``SupervisorError`` where a program is missing.
    init(
        on place: SandboxSite,
        _ installation: Installation,
        candidate: SandboxPlan,
        examiner: SandboxPlan
    ) throws(SupervisorError) {
        func file(_ name: String, _ path: String) throws(SupervisorError) -> ExamFile {
            ExamFile(path: name, bytes: try installation.contents(of: path))
        }
        var shim: [ExamFile] = []
        for name in Self.shim + [Self.frames] {
            shim.append(try file(name, "templates/python/" + name))
        }
        self.candidate = try installation.contents(of: Self.folder + "agent.py")
        files =
            shim + [
                ExamFile(path: "agent/agent.py", bytes: self.candidate),
                try file(Self.harness, Self.folder + Self.harness),
            ]
        var site = ExamSite(
            launcher: place.launcher,
            fillImage: place.imageCopier,
            benchmark: BenchmarkName(name: "red-team", version: 1),
            programs: ExamPrograms(
                candidate: ExamProgram(
                    command: Self.python + ["/candidate/run.py"],
                    files: shim
                ),
                examiner: ExamProgram(
                    command: Self.python + ["/examiner/examiner.py"],
                    files: shim.dropFirst()
                        + [try file("examiner.py", Self.folder + "examiner.py")]
                )
            ),
            candidatePlan: CompiledPlan(candidate),
            examinerPlans: [.train: CompiledPlan(examiner)],
            limits: SessionLimits(turns: 4, seconds: 20)
        )
        site.patience.candidate = Self.patience
        self.site = site
    }

    // MARK: - control

    private static let harness = "naive_harness.py"
    private static let home = "candidate/relay/"

    /// Puts the harness into a room and starts it there.
    func control(
        _ words: [String],
        in room: RedTeamRoom
    ) throws(SupervisorError) -> RedTeamRoom.Guest {
        for file in files {
            try room.place(file.bytes, Self.home + file.path, permissions: 0o644)
        }
        let names = words.map { String($0.dropFirst(Self.prefix.count)) }
        return try room.start(Self.python + ["/" + Self.home + Self.harness] + names)
    }

    // MARK: - exam

    private static let prefix = ProbeFamily.relay.rawValue + "."

    /// Runs the exam and says what each word's attack met with.
    func answers(_ words: [String]) throws(SupervisorError) -> [String: Answer] {
        var tasks: [(word: String, task: TaskID)] = []
        do throws(ExamError) {
            for word in words {
                let name = word.dropFirst(Self.prefix.count).replacing("/", with: ".")
                tasks.append((word, try TaskID(String(name))))
            }
        } catch { throw SupervisorError(.hostFailed, error) }
        let order = ExamOrder(
            split: .train,
            tasks: tasks.map(\.task),
            candidate: [.agent(candidate)],
            maximumConcurrency: 4,
            seed: 1
        )
        let report: Benchmarks.ExamReport
        do throws(ExamRunError) {
            report = try ExamRun(site: site, order: order).run()
        } catch { throw SupervisorError(.hostFailed, error) }
        var answers: [String: Answer] = [:]
        for (word, task) in tasks { answers[word] = Self.answer(to: task, report) }
        return answers
    }

    private static func answer(to task: TaskID, _ report: Benchmarks.ExamReport) -> Answer {
        let outcome: TaskOutcome
        do throws(ExamError) { outcome = try report.results.first.outcome(of: task) } catch {
            return .broken("\(error)")
        }
        switch outcome {
        case .failed(let fault): return .ended(fault.rawValue)
        case .missing: return .broken("no verdict")
        case .voided: return .broken(report.voidReason ?? outcome.code)
        case .graded(let reward):
            let said = report.records[task]?.detail["answer"]?.stringValue ?? ""
            guard reward == .zero, !said.hasPrefix("found") else { return .works }
            return said.hasPrefix("E") ? .refused(said) : .absent
        }
    }
}

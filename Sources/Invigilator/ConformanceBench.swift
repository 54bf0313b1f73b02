// The part of a conformance check that runs exams. It makes a vault of its own with every task in its
// train split, so that traces and details are there, and removes it at the end.

internal import HostKernel
internal import Benchmarks
internal import ExamResults
internal import HostProbe
internal import LauncherClient
internal import LinuxKernel
internal import SandboxPlan
internal import Supervisor
internal import Workspace

/// A place where one benchmark's exams are run for a conformance check.
final class ConformanceBench {
    private let files: BenchmarkFiles
    private let layout: StateLayout
    private let concurrency: Int
    private let id: String
    private let sandboxes: SandboxSite
    private let candidatePlan: CompiledPlan
    private let examinerPlan: CompiledPlan
    private let seed: UInt64 = 1

    // A floor at a tenth means that the benchmark pays for nothing (README of benchmarks).
    private static let floorLimit = 0.1
    private static let hostileTaskCount = 8

    /// Prepares the place: as root first, as the supervisor's user afterwards.
    init(
        _ files: BenchmarkFiles,
        python: PythonInterpreter,
        layout: StateLayout,
        installation: Installation,
        concurrency: Int
    ) throws(SupervisorError) {
        self.files = files
        self.layout = layout
        self.concurrency = concurrency
        id = try Self.randomName()
        let image = try SandboxSite.buildImage(of: python, layout)
        try layout.create(experiment: id)
        let source = PolicySource(
            directory: installation.policies,
            layout: layout
        )
        candidatePlan = CompiledPlan(
            try source.plan("candidate", pythonPrefix: python.sandboxPrefix, vaultSplit: nil)
        )
        examinerPlan = CompiledPlan(
            try source.plan(
                "examiner",
                pythonPrefix: python.sandboxPrefix,
                vaultSplit: layout.split(id, "train")
            )
        )
        sandboxes = try SandboxSite(layout: layout, installation: installation, image: image)
        let tasks = files.tasks.file(of: Set(files.tasks.entries.map(\.id)))
        try kernel("fill a vault", layout.vault(id)) { () throws(SystemError) in
            try layout.fill(id, "train", with: tasks)
        }
    }

    private static func randomName() throws(SupervisorError) -> String {
        let bytes = try kernel("draw a name", "vault") { () throws(SystemError) in
            try KernelRandom.bytes(8)
        }
        return SessionID(random: bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }).hex
    }

    /// Ends the launcher and removes the vault.
    func close() throws(SupervisorError) {
        try sandboxes.close()
        try kernel("remove a vault", layout.vault(id)) { () throws(SystemError) in
            let vault = try Descriptor.open(layout.vault(id), [.read, .directory])
            for split in ["train", "test"] {
                let folder = try vault.openBeneath(split, [.read, .directory])
                for name in try folder.entries() { try folder.remove(name) }
                try vault.remove(split, isDirectory: true)
            }
            try Descriptor.open(layout.vault, [.read, .directory]).remove(id, isDirectory: true)
            let experiment = try Descriptor.open(layout.experiment(id), [.read, .directory])
            for name in try experiment.entries() { try experiment.remove(name, isDirectory: true) }
            try Descriptor.open(layout.experiments, [.read, .directory])
                .remove(id, isDirectory: true)
        }
    }

    // MARK: - the rules

    /// Runs every exam of the check, and tells what begins.
    ///
    /// The tasks are those of a later vault, so that it begins as a sealed exam does: with the quick set
    /// of probes, under the plans of its sandboxes. Once, because one launcher makes all of them.
    func check(
        _ findings: inout ConformanceFindings,
        progress: (String) throws(SupervisorError) -> Void
    ) throws(SupervisorError) {
        try progress("looking at the walls of the sandboxes")
        let missing = try MissingWalls.before(
            "begin the exams of a conformance check",
            under: [candidatePlan, examinerPlan],
            seenBy: sandboxes.quickSet,
            at: .full
        )
        if let missing { throw SupervisorError(.hostFailed, missing) }
        try progress("talking to the examiner alone")
        try checkExaminer(&findings)
        guard files.manifest.models.isEmpty else {
            return findings.addUnchecked(without: files.manifest)
        }
        try progress("the template over every task")
        let template = try exam(files.template)
        guard checkTemplate(template, &findings) else { return }
        if files.manifest.isDeterministic {
            try progress("the template again, one task at a time")
            let again = try exam(files.template, concurrency: 1)
            checkSame(template, again, &findings)
        }
        for floor in files.floors {
            try progress("the floor \(floor.name)")
            checkFloor(floor.name, try exam(floor.bytes), &findings)
        }
        if let oracle = files.oracle {
            try progress("the oracle")
            let tasks = files.tasks.file(of: Set(files.tasks.entries.map(\.id)))
            let answers = ExamFile(path: "agent/tasks.json", bytes: tasks)
            checkOracle(try exam(oracle, more: [answers]), &findings)
        }
        for hostile in HostileProgram.allCases {
            try progress("a candidate that \(hostile.deed)")
            try check(hostile, template, &findings)
        }
    }

    private func checkExaminer(_ findings: inout ConformanceFindings) throws(SupervisorError) {
        let manifest = files.manifest
        let program = ExamProgram(
            command: manifest.examiner.command,
            files: Self.files(files.examiner)
        )
        var problem: String?
        for topic in ExaminerTalk.Topic.allCases where problem == nil {
            let talk = try ExaminerTalk(
                plan: examinerPlan,
                program: program,
                packages: files.environment?.added,
                on: sandboxes
            )
            problem = try talk.problem(
                topic,
                benchmark: manifest.benchmark,
                version: manifest.version
            )
        }
        findings.add(
            "examiner",
            holds: problem == nil,
            problem ?? "says hello, refuses unknown sessions, ends with 0 after finish"
        )
    }

    private func checkTemplate(
        _ report: ExamReport,
        _ findings: inout ConformanceFindings
    ) -> Bool {
        let count = files.tasks.entries.count
        if let reason = report.voidReason {
            let words = SafeText.cleaned(report.examinerErrors, atMost: 300)
            findings.add("template", .broken, "the exam is void: \(reason) \(words)")
            return false
        }
        let graded = report.results.first.all.filter { Self.isGraded($0.outcome) }.count
        let faults = Self.faults(report)
        findings.add(
            "template",
            holds: graded == count,
            "\(graded) of \(count) tasks get a verdict\(faults); mean \(Self.mean(report))"
        )
        return true
    }

    private func checkSame(
        _ first: ExamReport,
        _ second: ExamReport,
        _ findings: inout ConformanceFindings
    ) {
        let (before, after) = (Self.outcomes(first), Self.outcomes(second))
        let different = first.results.first.planned.filter { before[$0] != after[$0] }
        let detail =
            different.isEmpty
            ? "the same verdicts side by side and one at a time"
            : "other verdicts the second time: "
                + different.prefix(5).map(\.text).joined(separator: ", ")
        findings.add("deterministic", holds: different.isEmpty, detail)
    }

    private func checkFloor(
        _ name: String,
        _ report: ExamReport,
        _ findings: inout ConformanceFindings
    ) {
        let isLow = Self.value(report).map { $0 < Self.floorLimit } ?? false
        findings.add("floor \(name)", holds: isLow, "mean \(Self.mean(report)), below 0.10 needed")
    }

    private func checkOracle(_ report: ExamReport, _ findings: inout ConformanceFindings) {
        // An oracle knows the answers, and may pass what nobody else can.
        let impossible = files.manifest.watchful.impossible
        let short = report.results.first.all.filter { task, outcome in
            outcome.reward != .one && !impossible.contains(task)
        }.map(\.task.text)
        let detail =
            short.isEmpty
            ? "earns 1 on every task" + (impossible.isEmpty ? "" : " that can be passed")
            : "mean \(Self.mean(report)); not 1 on \(short.prefix(5).joined(separator: ", "))"
        findings.add("oracle", holds: short.isEmpty && !report.results.isVoid, detail)
    }

    private func check(
        _ hostile: HostileProgram,
        _ template: ExamReport,
        _ findings: inout ConformanceFindings
    ) throws(SupervisorError) {
        let tasks = Array(template.results.first.planned.prefix(Self.hostileTaskCount))
        let shim = hostile == .sometimesExits ? Self.files(files.candidate) : []
        let report = try exam(
            files.template,
            program: ExamProgram(
                command: hostile.command(before: files.manifest.candidate.command),
                files: shim + [ExamFile(path: HostileProgram.file, bytes: hostile.bytes)]
            ),
            tasks: tasks
        )
        let rule = "candidate that \(hostile.deed)"
        if let reason = report.voidReason {
            return findings.add(rule, .broken, "the exam is void: \(reason)")
        }
        let (before, after) = (Self.outcomes(template), Self.outcomes(report))
        let wrong = tasks.filter { task in
            guard let outcome = after[task], outcome.reward != .zero else { return false }
            return hostile != .sometimesExits || outcome != before[task]
        }
        let good =
            hostile == .sometimesExits
            ? "the other sessions go on as before" : "earns 0 on \(tasks.count) tasks"
        let names = wrong.map(\.text).joined(separator: ", ")
        findings.add(rule, holds: wrong.isEmpty, wrong.isEmpty ? good : "changes \(names)")
    }

    // MARK: - exams

    private func exam(
        _ candidate: [UInt8],
        program: ExamProgram? = nil,
        more: [ExamFile] = [],
        tasks: [TaskID]? = nil,
        concurrency: Int? = nil
    ) throws(SupervisorError) -> ExamReport {
        let order = ExamOrder(
            split: .train,
            tasks: tasks ?? files.tasks.entries.map(\.id),
            candidate: [.agent(candidate)],
            maximumConcurrency: concurrency ?? self.concurrency,
            seed: seed
        )
        do throws(ExamRunError) {
            return try ExamRun(site: site(program, more), order: order).run()
        } catch {
            throw SupervisorError(.hostFailed, error)
        }
    }

    private func site(_ program: ExamProgram?, _ more: [ExamFile]) -> ExamSite {
        let manifest = files.manifest
        let sandboxes = sandboxes
        let usual = ExamProgram(
            command: manifest.candidate.command,
            files: Self.files(files.candidate) + more
        )
        var site = ExamSite(
            launcher: sandboxes.launcher,
            fillImage: { directory throws(SystemError) in
                do throws(SupervisorError) { try sandboxes.fill(directory) } catch {
                    // EIO: the image could not be copied whole.
                    throw SystemError("copy", error.description, number: 5)
                }
            },
            benchmark: BenchmarkName(name: manifest.benchmark, version: manifest.version),
            programs: ExamPrograms(
                candidate: program ?? usual,
                examiner: ExamProgram(
                    command: manifest.examiner.command,
                    files: Self.files(files.examiner)
                )
            ),
            candidatePlan: candidatePlan,
            examinerPlans: [.train: examinerPlan],
            limits: SessionLimits(
                turns: manifest.limits.turns,
                seconds: Double(manifest.limits.seconds)
            )
        )
        if let packages = files.environment { site.examinerPackages = packages.added }
        return site
    }

    // MARK: - words

    private static func files(_ named: [BenchmarkFiles.NamedBytes]) -> [ExamFile] {
        named.map { ExamFile(path: $0.name, bytes: $0.bytes) }
    }

    private static func outcomes(_ report: ExamReport) -> [TaskID: TaskOutcome] {
        Dictionary(uniqueKeysWithValues: report.results.first.all.map { ($0.task, $0.outcome) })
    }

    private static func isGraded(_ outcome: TaskOutcome) -> Bool {
        switch outcome {
        case .graded: true
        case .failed, .missing, .voided: false
        }
    }

    private static func value(_ report: ExamReport) -> Double? {
        do throws(ExamError) { return try report.results.mean().mean } catch { return nil }
    }

    private static func mean(_ report: ExamReport) -> String {
        value(report).map { Decimal.text($0) } ?? "none, the exam is void"
    }

    private static func faults(_ report: ExamReport) -> String {
        let counts = report.faultCounts.sorted { $0.key < $1.key }
        return counts.isEmpty
            ? "" : " (" + counts.map { "\($0.key) \($0.value)" }.joined(separator: ", ") + ")"
    }
}

import Benchmarks
import ExamResults
import Foundation
import HostProbe
import LauncherClient
import LinuxKernel
import SandboxPlan
import SandboxPolicy
import StrictJSON
import Testing

/// An exam hall of one test's own: a launcher, a vault with the helpdesk's tasks, and a site.
final class ExamHall {
    let loop = EventLoop()
    let client: LauncherClient
    /// The tasks of the vault, in the order of the file.
    let tasks: [TaskID]
    private let markers: [TaskID: String]
    var site: ExamSite
    private let scratch: Scratch

    static let supervisor: UInt32 = 0x7000_0000
    private static let helpdesk = Host.repository + "/templates/benchmarks/helpdesk/"
    private static let shim = Host.repository + "/templates/python/"
    static let python = ["/usr/bin/python3", "-I", "-S", "-B", "-X", "frozen_modules"]

    /// The image of this host's Python; the same for every test, removed when the process ends.
    static let image = Result {
        try FileManager.default.createDirectory(atPath: images, withIntermediateDirectories: true)
        // Nothing is left to tell when the process ends.
        atexit { try? FileManager.default.removeItem(atPath: ExamHall.images) }
        let python = try PythonSearch.find(named: nil, homes: ["/root"])
        return try ImageBuilder.build(try PythonImage.manifest(of: python), into: images)
    }
    private static let images =
        NSTemporaryDirectory() + "privileged-images-\(ProcessInfo.processInfo.processIdentifier)"

    /// What differs from a usual exam of the helpdesk.
    struct Setup {
        var candidateFiles: [ExamFile] = []
        /// A Python program in place of the helpdesk's examiner.
        var examiner: String?
        var candidateCommand: [String]?
        var limits = SessionLimits(turns: 30, seconds: 20)
    }

    init(_ setup: Setup = Setup()) throws {
        scratch = try Scratch()
        let splits = try Self.makeVault(in: scratch)
        var options = LauncherOptions(
            executable: Host.launcher,
            supervisor: Self.supervisor,
            protected: [scratch.path],
            vault: scratch.path + "/vault"
        )
        options.hasLayerSwitches = false
        client = try LauncherClient.start(options, loop: loop)
        let known = try Self.readTasks()
        tasks = known.map(\.task)
        markers = Dictionary(uniqueKeysWithValues: known)
        let image = try Self.image.get()
        var plans: [Split: CompiledPlan] = [:]
        for (split, path) in splits {
            plans[split] = CompiledPlan(try Self.examinerPlan(split: path, state: scratch.path))
        }
        site = ExamSite(
            launcher: client,
            fillImage: { directory throws(SystemError) in
                do throws(HostProbeError) {
                    try ImageBuilder.copy(image, to: directory)
                } catch {
                    throw SystemError("copy", "\(error)", number: EIO)
                }
            },
            benchmark: BenchmarkName(name: "helpdesk", version: 1),
            programs: try Self.programs(setup),
            candidatePlan: CompiledPlan(try Plans.candidate()),
            examinerPlans: plans,
            limits: setup.limits
        )
    }

    /// Runs a test in a hall and expects that nothing of its launcher is left.
    static func run(_ setup: Setup = Setup(), _ body: (ExamHall) throws -> Void) throws {
        let hall = try ExamHall(setup)
        let pid = hall.client.pid
        do {
            try body(hall)
        } catch {
            try hall.client.shutDown()
            throw error
        }
        let family = try Census.descendants(of: pid)
        #expect(family.isEmpty, "sandboxes outlived their exam")
        try hall.client.shutDown()
    }

    /// Runs an exam and expects that it leaves nothing: no process, no descriptor on either side, and
    /// no populated group.
    func exam(
        _ agent: String,
        _ split: Split = .train,
        tasks: [TaskID]? = nil,
        concurrency: Int = 4
    ) throws -> ExamReport {
        let order = ExamOrder(
            split: split,
            tasks: tasks ?? self.tasks,
            candidate: [.agent(Array(agent.utf8))],
            maximumConcurrency: concurrency,
            seed: 7
        )
        let before = try held()
        let report = try ExamRun(site: site, order: order).run()
        // The launcher closes what it held of a sandbox after it has told of its end.
        let patience = MonotonicTime.now.advanced(by: .milliseconds(5_000))
        // Fewer are left where a program that a test ran before was not quite over when it began.
        func isLeft() throws -> Bool { zip(try held(), before).contains { $0 > $1 } }
        while try isLeft(), MonotonicTime.now < patience {
            try loop.turn(atMost: .milliseconds(20))
        }
        let after = try held()
        #expect(try !isLeft(), "descriptors are left: \(before), now \(after)")
        #expect(try Census.descendants(of: client.pid).isEmpty, "processes are left")
        for group in try groups() {
            #expect(Census.members(of: group).isEmpty, "\(group) is populated")
        }
        return report
    }

    /// What we and the launcher hold open, the launcher's pooled groups left out.
    private func held() throws -> [Int] {
        let ours = try Census.descriptors(of: CurrentProcess.pid)
        let launchers = try Census.descriptors(of: client.pid)
        return [ours.count, launchers.filter { !$0.contains("/\(ControlGroup.poolName)/") }.count]
    }

    /// Directories of control groups that the launcher holds open.
    private func groups() throws -> [String] {
        let folder = "/proc/\(client.pid)/fd"
        return try FileManager.default.contentsOfDirectory(atPath: folder).compactMap { name in
            // One that was closed meanwhile is not there.
            let path = try? FileManager.default.destinationOfSymbolicLink(
                atPath: folder + "/" + name
            )
            return path.flatMap { $0.contains("/\(ControlGroup.poolName)/") ? $0 : nil }
        }
    }

    /// The text by which a task can be recognised in its first message, and nowhere else.
    func marker(of task: TaskID) throws -> String {
        try #require(markers[task])
    }

    // MARK: - files

    static func template(_ name: String) throws -> String {
        try String(contentsOfFile: helpdesk + name, encoding: .utf8)
    }

    private static func programs(_ setup: Setup) throws -> ExamPrograms {
        let library = ["__init__.py", "endpoint.py", "frames.py"].map {
            "lib/invigilator_agent/\($0)"
        }
        let own = ["examiner.py", "checks.py", "customers.py", "desk.py", "policy.md"]
        var examiner = try files(helpdesk, own)
        if let source = setup.examiner {
            examiner[0] = ExamFile(path: "examiner.py", bytes: Array(source.utf8))
        }
        return ExamPrograms(
            candidate: ExamProgram(
                command: setup.candidateCommand ?? python + ["/candidate/run.py"],
                files: try files(shim, ["run.py"] + library) + setup.candidateFiles
            ),
            examiner: ExamProgram(
                command: python + ["/examiner/examiner.py"],
                files: try examiner + files(shim, library)
            )
        )
    }

    private static func files(_ directory: String, _ names: [String]) throws -> [ExamFile] {
        try names.map { name in
            let data = try Data(contentsOf: URL(fileURLWithPath: directory + name))
            return ExamFile(path: name, bytes: Array(data))
        }
    }

    private static func readTasks() throws -> [(task: TaskID, marker: String)] {
        let bytes = Array(try template("tasks.json").utf8)
        let value = try JSONValue(parsing: bytes, limits: .ledgerBody)
        return try (value["tasks"]?.arrayValue ?? []).map { task in
            (try TaskID(task["id"]?.stringValue ?? ""), task["marker"]?.stringValue ?? "")
        }
    }

    private static func examinerPlan(split: String, state: String) throws -> SandboxPlan {
        let library = try PolicyLibrary(directory: Host.repository + "/policies")
        let variables = PolicyVariables(vaultSplit: split)
        let context = try ResolutionContext.host(stateDirectory: state, variables: variables)
        let resolver = PolicyResolver(groups: library.groups, context: context)
        return try resolver.resolve(try library.policy(named: "examiner")).plan
    }

    // Both splits hold every task here: what a split may hold is not this test's concern.
    private static func makeVault(in scratch: Scratch) throws -> [Split: String] {
        var paths: [Split: String] = [:]
        for split in Split.allCases {
            let path = try scratch.directory("vault/x/\(split.rawValue)")
            let file = try scratch.file(
                "vault/x/\(split.rawValue)/tasks.json",
                template("tasks.json")
            )
            for (name, bits) in [(path, 0o700), (file, 0o600)] {
                try FileManager.default.setAttributes(
                    [
                        .ownerAccountID: Int(supervisor), .groupOwnerAccountID: Int(supervisor),
                        .posixPermissions: bits,
                    ],
                    ofItemAtPath: name
                )
            }
            paths[split] = path
        }
        return paths
    }
}

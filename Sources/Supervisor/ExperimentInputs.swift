internal import LauncherClient
internal import ModelDialects
public import HostKernel
public import HostProbe
public import LinuxKernel
public import SandboxPlan
public import SandboxPolicy
internal import StrictJSON
public import Workspace

/// Everything that a command reads as root, before it becomes the supervisor: after this, no path of
/// the user's is opened again, so a checkout below a 0700 directory works.
public struct ExperimentInputs {
    /// The experiment.
    public let experiment: Experiment
    /// The configuration.
    public let config: ExperimentConfig
    /// The benchmark.
    public let benchmark: BenchmarkFiles
    /// The plans.
    public let plans: ExperimentPlans
    /// The Python image.
    public let image: Image
    /// The interpreter that the image was made from.
    public let python: PythonInterpreter
    /// The candidate's Python packages, if it has any.
    let packages: CandidatePackages?
    /// The judged files as they lie in the experiment's directory.
    public let agent: CandidateSnapshot
    /// PROGRAM.md as it lies there.
    public let program: [UInt8]
    /// The stubs of the coding sandbox.
    public let stubs: [BenchmarkFiles.NamedBytes]
    /// What of models is read as root; nothing where nobody has one.
    public let models: ModelInputs?
    /// How the coding agent is started.
    public let codingAgent: CodingAgentFiles
    /// The operator's `workspace` directory, opened while we could.
    public let workspaceDirectory: Descriptor?.Box

    /// The longest that one rollout can take, in milliseconds.
    var rolloutMilliseconds: Int64 {
        let seconds = Int64(benchmark.manifest.limits.seconds)
        return 1000 * min(seconds, config.perTaskTimeout?.components.seconds ?? seconds)
    }

    /// Digests by name of what every exam runs under, as the genesis row keeps them.
    var digests: [String: String] {
        var digests = plans.digests
        if let packages { digests[CandidatePackages.name] = packages.digest }
        if let own = codingAgent.own { digests[Self.profileName] = own.digest }
        if let models { digests[Self.formsName] = models.formsDigest }
        if let site = plans.site { digests[Self.siteName] = site }
        return digests
    }

    /// The name of the coding agent's profile among the digests, where it is not one that ships.
    static let profileName = "coding-agent-profile"

    /// The name of what requests to models may hold among the digests.
    static let formsName = "model-requests"

    /// The name of the site's policy among the digests.
    static let siteName = "site"

    /// What the genesis row says of the host, and of a split that is not this experiment's own.
    var facts: JSONValue {
        var facts: [String: JSONValue] = [
            "python": .string(python.version), "image": .string(image.digest),
        ]
        if models?.cassette?.splitKey != nil { facts["split"] = "cassette" }
        return .object(facts)
    }

    /// Reads everything, as root.
    public init(
        _ experiment: Experiment,
        layout: StateLayout,
        installation: Installation
    ) throws(SupervisorError) {
        self.experiment = experiment
        let path = experiment.directory
        let config = try Self.readConfig(experiment)
        self.config = config
        let owner = try experiment.owner()
        let reading = Self.reading(
            experiment,
            config,
            owner,
            layout: layout,
            installation: installation
        )
        try Self.requireOwnPython(config, owner)
        try reading.requireModels(of: config)
        benchmark = try BenchmarkFiles(reading)
        try layout.create()
        try layout.create(experiment: experiment.id)
        let python = try reading.interpreter(for: benchmark.manifest)
        self.python = python
        image = try Self.buildImage(python, layout)
        packages = try CandidatePackages(config, of: experiment.folder, benchmark, python, layout)
        codingAgent = try CodingAgentFiles(config, of: owner, installation, python)
        plans = try ExperimentPlans(
            config,
            id: experiment.id,
            owner: owner,
            layout: layout,
            installation: installation,
            python: python,
            agent: codingAgent
        )
        models = try ModelInputs(
            config,
            of: path,
            id: experiment.id,
            owner: owner,
            policies: PolicySource(config, of: owner, layout: layout, installation: installation),
            installation: installation,
            pythonPrefix: python.prefixForPolicies
        )
        try Self.require(plans.surface, apartFrom: benchmark)
        agent = try Self.readAgent(experiment.folder, plans.surface)
        program = try experiment.folder.read("PROGRAM.md")
        stubs = try Self.readStubs(installation, python)
        workspaceDirectory = try Self.openWorkspace(experiment.folder)
    }

    static func readConfig(_ experiment: Experiment) throws(SupervisorError) -> ExperimentConfig {
        let bytes = try experiment.folder.read(Experiment.configurationName)
        return try workspace { () throws(WorkspaceError) in
            try ExperimentConfig(
                parsing: bytes,
                file: "\(experiment.directory)/\(Experiment.configurationName)"
            )
        }
    }

    fileprivate static func reading(
        _ experiment: Experiment,
        _ config: ExperimentConfig,
        _ owner: FileRights,
        layout: StateLayout,
        installation: Installation
    ) -> BenchmarkFiles.Reading {
        let own = experiment.benchmarkDirectory
        var reading = BenchmarkFiles.Reading(
            directory: own ?? BenchmarkFiles.shippedDirectory(config.benchmark, installation),
            installation: installation,
            layout: layout
        )
        reading.namedBy = own == nil ? nil : owner
        reading.python = config.sandbox.python
        reading.settings = config.adapter.compactMapValues(\.stringValue)
        return reading
    }

    // Root copies it into images and runs it where packages are installed.
    private static func requireOwnPython(
        _ config: ExperimentConfig,
        _ owner: FileRights
    ) throws(SupervisorError) {
        guard !owner.areOurs, let named = config.sandbox.python else { return }
        let place: String?
        do throws(HostProbeError) {
            place = try PythonInterpreter(path: named).placeOfOthers()
        } catch { throw SupervisorError(.hostFailed, error) }
        guard let place else { return }
        throw SupervisorError(
            .usage,
            operation: "look at a Python interpreter",
            location: "sandbox.python: \(named)",
            reason:
                "\(place) is not root's alone, and uid \(owner.user), whose configuration names it,"
                + " is not root",
            remedy:
                "name an interpreter that only root can change, or have root own the configuration"
        )
    }

    static func buildImage(
        _ python: PythonInterpreter,
        _ layout: StateLayout
    ) throws(SupervisorError) -> Image {
        do throws(HostProbeError) {
            let image = try ImageBuilder.build(
                PythonImage.manifest(of: python),
                into: layout.images
            )
            // The image holds nothing secret; the supervisor, who is not root, copies it.
            return image
        } catch { throw SupervisorError(.hostFailed, error) }
    }

    private static func readAgent(
        _ folder: UserFolder,
        _ surface: Surface
    ) throws(SupervisorError) -> CandidateSnapshot {
        let read: Result<CandidateSnapshot, WorkspaceError>
        do throws(SystemError) {
            let opened = try folder.open("agent", [.read, .directory])
            read = try folder.rights().perform { () throws(SystemError) in
                Result { () throws(WorkspaceError) in
                    try CandidateSnapshot(reading: surface, beneath: opened)
                }
            }
        } catch { throw folder.refusal(of: "agent", "read the agent's files", error) }
        return try workspace { () throws(WorkspaceError) in try read.get() }
    }

    // Both lie in one directory of the candidate's sandbox, and neither may take the other's place, nor
    // that of a directory which the other lies in: an exam of such files would be void.
    private static func require(
        _ surface: Surface,
        apartFrom benchmark: BenchmarkFiles
    ) throws(SupervisorError) {
        let names = benchmark.candidate.map(\.name)
        guard let shared = names.first(where: { surface.displaces($0) }) else { return }
        throw SupervisorError(
            .usage,
            operation: "read the policy coding-agent",
            location: "surface",
            reason: "it leaves no place for \(shared), which is a file of the benchmark",
            remedy: "list other files, or others in the benchmark's candidate.files"
        )
    }

    private static let stubNames = ["exam", "benchmark.py", "gating.py", "record.py", "prepare.py"]

    // A stub names the interpreter in its first line; where Python lies elsewhere, so does the line.
    private static func readStubs(
        _ installation: Installation,
        _ python: PythonInterpreter
    ) throws(SupervisorError) -> [BenchmarkFiles.NamedBytes] {
        var stubs: [BenchmarkFiles.NamedBytes] = []
        for name in stubNames {
            let bytes = try installation.contents(of: "templates/stubs/\(name)")
            let text = String(decoding: bytes, as: UTF8.self)
            let shipped = "#!/usr/bin/python3"
            let adapted =
                text.hasPrefix(shipped) && !python.liesUnderUsr
                ? "#!\(python.path)" + text.dropFirst(shipped.count) : text
            stubs.append(.init(name: name, bytes: Array(adapted.utf8)))
        }
        return stubs
    }

    // The operator's view is written by the supervisor, so the directory becomes its own.
    private static func openWorkspace(
        _ folder: UserFolder
    ) throws(SupervisorError) -> Descriptor?.Box {
        do throws(SystemError) {
            // Not with the owner's rights: after the first run the directory is the supervisor's alone.
            let directory = try Descriptor.openWithoutLinks(folder.path, [.path, .directory])
                .openBeneath("workspace", [.read, .directory])
            try directory.setOwner(StateLayout.supervisor, group: StateLayout.supervisorGroup)
            return Descriptor?.Box(directory)
        } catch { throw folder.refusal(of: "workspace", "open the workspace", error) }
    }
}

extension Surface {
    /// Whether it names a file, a directory above it, or something below it.
    fileprivate func displaces(_ file: String) -> Bool {
        var path = ""
        for part in file.split(separator: "/") {
            path += path.isEmpty ? String(part) : "/\(part)"
            if names(path) { return true }
        }
        return patterns.contains { $0.text.hasPrefix(file + "/") }
    }
}

extension PythonInterpreter {
    /// Whether the coding sandbox sees this interpreter as `/usr/bin/python3`.
    var liesUnderUsr: Bool { path.hasPrefix("/usr/bin/") }

    /// What policies mean by `${python-prefix}`.
    var prefixForPolicies: String { liesUnderUsr ? "/usr" : prefix }
}

/// The compiled plans of one experiment.
public struct ExperimentPlans: Sendable {
    /// The coding sandbox.
    public let coding: CompiledPlan
    /// One candidate sandbox.
    public let candidate: CompiledPlan
    /// The examiner with the train split.
    public let trainExaminer: CompiledPlan
    /// The examiner with the test split.
    public let testExaminer: CompiledPlan
    /// What of the coding agent's files is kept.
    public let surface: Surface
    /// The digest of what the site bounds policies by; absent where it bounds nothing.
    let site: String?
    /// The longest silence of the coding agent; absent for no limit.
    let codingIdle: Milliseconds?

    /// How many numbers of the host's counters a candidate, and the examiner for one rollout, may take.
    ///
    /// Complete where neither has a procfs, in which each look-up takes one more.
    let objects: (candidate: UInt32, examiner: UInt32, areComplete: Bool)

    /// Which of the roles that know a sealed task may make internet sockets, as the record names them.
    public let internet: [String]

    /// Every plan.
    var all: [CompiledPlan] { [coding, candidate, trainExaminer, testExaminer] }

    /// What the record calls each of them.
    let agreed: AgreedPlans

    /// Digests by name, as the genesis row keeps them.
    public var digests: [String: String] {
        [
            "coding-agent": coding, "candidate": candidate,
            "examiner-train": trainExaminer, "examiner-test": testExaminer,
        ].mapValues { agreed.digest(of: $0.digest) }
    }

    /// Resolves the plans of an experiment that was set up; makes and changes nothing.
    ///
    /// - Throws: ``SupervisorError``, also where there is no state of this experiment.
    public init(
        of experiment: Experiment,
        layout: StateLayout,
        installation: Installation
    ) throws(SupervisorError) {
        let config = try ExperimentInputs.readConfig(experiment)
        let owner = try experiment.owner()
        let reading = ExperimentInputs.reading(
            experiment,
            config,
            owner,
            layout: layout,
            installation: installation
        )
        let python = try reading.interpreter(for: reading.manifest())
        try self.init(
            config,
            id: experiment.id,
            owner: owner,
            layout: layout,
            installation: installation,
            python: python,
            agent: ExperimentInputs.CodingAgentFiles(config, of: owner, installation, python)
        )
    }

    init(
        _ config: ExperimentConfig,
        id: String,
        owner: FileRights,
        layout: StateLayout,
        installation: Installation,
        python: PythonInterpreter,
        agent: ExperimentInputs.CodingAgentFiles
    ) throws(SupervisorError) {
        let prefix = python.prefixForPolicies
        let source = PolicySource(config, of: owner, layout: layout, installation: installation)
        func plan(_ name: String, split: String? = nil) throws(SupervisorError) -> SandboxPlan {
            try source.plan(name, pythonPrefix: prefix, vaultSplit: split)
        }
        let models = config.models
        let agents = try source.resolved(
            "coding-agent",
            pythonPrefix: prefix,
            vaultSplit: nil,
            showing: agent.reads,
            of: agent.origin
        )
        surface = agents.policy.surface
        var coding = agents.plan
        coding.add(ModelEnvironment.variables(of: .codingAgent, models))
        coding.add(ModelEnvironment.variables(agent.environment))
        if agent.hasTerminal { coding.streams = .terminal }
        try agent.origin?.check(coding)
        if let idle = agent.idle {
            coding.limits.idle = Milliseconds(UInt64(clamping: idle.components.seconds) * 1000)
        }
        coding.limits.wallClock = Milliseconds(
            UInt64(clamping: config.codingAgent.wall.components.seconds) * 1000
        )
        let tests = models.pin(of: .userSimulator) != nil || models.pin(of: .judge) != nil
        let examiner = tests ? "examiner-with-model" : "examiner"
        var candidate = try plan(
            models.pin(of: .candidate) == nil ? "candidate" : "candidate-with-model"
        )
        candidate.add(ModelEnvironment.variables(of: .candidate, models))
        if let limit = config.perTaskTimeout {
            candidate.limits.wallClock = Milliseconds(
                UInt64(clamping: limit.components.seconds) * 1000
            )
        }
        for plan in [coding, candidate] { try source.require(plan) }
        site = try PolicySource.siteDigest()
        codingIdle = coding.limits.idle
        var agreed = AgreedPlans()
        self.coding = agreed.compile(coding)
        self.candidate = agreed.compile(candidate)
        var lastExaminer = candidate
        func examinerPlan(_ split: String) throws(SupervisorError) -> CompiledPlan {
            var plan = try plan(examiner, split: layout.split(id, split))
            lastExaminer = plan
            plan.add(ModelEnvironment.variables(of: .judge, models))
            plan.add(ModelEnvironment.variables(of: .userSimulator, models))
            return agreed.compile(plan)
        }
        trainExaminer = try examinerPlan("train")
        testExaminer = try examinerPlan("test")
        objects = (
            candidate.limits.objects, lastExaminer.limits.objects,
            candidate.proc == .none && lastExaminer.proc == .none
        )
        internet = [candidate, lastExaminer].filter(\.landlock.allowsTCP).map { "\($0.role)" }
        self.agreed = agreed
    }
}

internal import HostKernel
internal import IterationLoop
public import SandboxPlan
internal import Ledger
internal import LinuxKernel
internal import StrictJSON
internal import Workspace

/// `init`: writes an experiment's directory and makes its record with a new key.
public struct ExperimentSetup {
    private let directory: String
    private let benchmark: String
    private let codingAgent: String
    private let layout: StateLayout
    private let installation: Installation
    /// The grid of times at which the coding agent is told results.
    ///
    /// The slot in which a result is told is a message of its own unless a slot is longer than an
    /// exam; exams of the shipped benchmark take seconds.
    public var releaseGrid = "30s"
    /// Demanded by policies of the experiment's own, which are those that ship otherwise; absent for those
    /// that ship as they are.
    public var assurance: AssuranceLevel?
    /// The checkout of auto-harness whose configuration and agent are taken over, if one is.
    public var checkout: HarnessCheckout?

    /// Begins.
    ///
    /// - Parameters:
    ///   - directory: where the experiment goes; it may exist if it is no experiment yet.
    ///   - benchmark: a name that ships, or a directory (a path with a slash).
    ///   - codingAgent: the name of a profile, or its directory (a path with a slash).
    ///   - layout: where state is kept.
    ///   - installation: where policies and templates lie.
    public init(
        directory: String,
        benchmark: String,
        codingAgent: String,
        layout: StateLayout,
        installation: Installation
    ) {
        self.directory = directory
        self.benchmark = benchmark
        self.codingAgent = codingAgent
        self.layout = layout
        self.installation = installation
    }

    /// Writes everything; an experiment that exists is refused.
    public func create() throws(SupervisorError) -> Experiment {
        let own = benchmark.contains("/") ? try Experiment.absolute(benchmark) : nil
        if own == nil { try requireShipped() }
        let agent = try ProfileFiles.reference(codingAgent)
        _ = try ProfileFiles(named: agent, installation)
        let source = own ?? BenchmarkFiles.shippedDirectory(benchmark, installation)
        let reading = BenchmarkFiles.Reading(
            directory: source,
            installation: installation,
            layout: layout
        )
        let manifest = try reading.manifest()
        var template = checkout?.agent
        if template == nil {
            template = try reading.folder.read(manifest.agent.text)
        }
        let files = (
            template: template ?? [],
            program: try reading.folder.read(manifest.program.text)
        )
        let config = try configuration(manifest, agent)
        let id = try system("draw an id", "experiment") { () throws(SystemError) in
            try KernelRandom.bytes(8).map { byte in
                let digits = Array("0123456789abcdef".utf8)
                return String(
                    decoding: [digits[Int(byte >> 4)], digits[Int(byte & 15)]],
                    as: UTF8.self
                )
            }.joined()
        }
        let marker = ExperimentMarker(
            experiment: id,
            benchmarkDirectory: own,
            key: try MarkerKey.drawn()
        )
        let experiment = try writeDirectory(files, config, marker)
        try createState(experiment)
        return experiment
    }

    private func requireShipped() throws(SupervisorError) {
        guard !installation.has("templates/benchmarks/\(benchmark)/benchmark.yaml") else { return }
        throw SupervisorError(
            .usage,
            operation: "set up an experiment",
            location: "benchmark \(benchmark)",
            reason: "none of this name ships",
            remedy:
                "name one below \(installation.resources)/templates, or the directory of your own"
                + " with a slash"
        )
    }

    // A JSON string is a YAML scalar.
    private static func quoted(_ text: String) -> String {
        String(decoding: JSONValue.string(text).canonicalBytes, as: UTF8.self)
    }

    // The shipped configuration of the benchmark, or of `command` for one of the user's own.
    private func configuration(
        _ manifest: BenchmarkManifest,
        _ agent: String
    ) throws(SupervisorError) -> [UInt8] {
        let shipped = "templates/experiments/\(manifest.benchmark).yaml"
        let name =
            installation.has(shipped) ? shipped : "templates/experiments/command.yaml"
        let template = String(decoding: try installation.contents(of: name), as: UTF8.self)
            .replacing("{{benchmark}}", with: manifest.benchmark)
            .replacing("{{coding_agent}}", with: agent.contains("/") ? Self.quoted(agent) : agent)
            .replacing("{{grid}}", with: releaseGrid)
        let text = checkout?.configuration(over: template) ?? template
        let bytes = Array(text.utf8)
        // A template that does not parse is found here and not by `prepare`.
        _ = try workspace { () throws(WorkspaceError) in
            try ExperimentConfig(parsing: bytes, file: name)
        }
        return bytes
    }

    private typealias Texts = (template: [UInt8], program: [UInt8])

    private func program(_ files: Texts) throws(SupervisorError) -> [UInt8] {
        let base = try installation.contents(of: "templates/programs/base.md")
        let part = String(decoding: files.program, as: UTF8.self)
        return Array(
            String(decoding: base, as: UTF8.self)
                .replacing("{{benchmark}}", with: part + (checkout?.notes ?? "")).utf8
        )
    }

    private func writeDirectory(
        _ files: Texts,
        _ config: [UInt8],
        _ marker: ExperimentMarker
    ) throws(SupervisorError) -> Experiment {
        let text = try program(files)
        let path = try system("make the experiment's directory", directory) {
            () throws(SystemError) in
            try Self.makeDirectory(directory)
            return try Descriptor.resolvedPath(directory)
        }
        try checkout?.check(isApartFrom: path)
        // First and exclusively: of two that set up one directory, one is refused.
        try claim(path, marker.bytes)
        let policies = try policies()
        try system("write the experiment", path) { () throws(SystemError) in
            let folder = try Descriptor.open(path, [.read, .directory])
            for name in ["agent", "workspace"] {
                do throws(SystemError) { try folder.makeDirectory(name) } catch {
                    guard error.isAlreadyThere else { throw error }
                }
            }
            try folder.replace("experiment_config.yaml", with: config + policySection(path))
            try folder.replace("PROGRAM.md", with: text)
            let made = ["agent", "workspace", "experiment_config.yaml", "PROGRAM.md"]
            for name in made + [ExperimentMarker.name] { try folder.giveToOwner(name) }
            let agent = try folder.openBeneath("agent", [.read, .directory])
            try agent.replace("agent.py", with: files.template)
            try agent.giveToOwner("agent.py")
            if !policies.isEmpty {
                try folder.makeDirectory("policies")
                try folder.giveToOwner("policies")
            }
            for file in policies {
                let path = "policies/\(file.name)"
                try folder.place(file.bytes, at: path)
                if file.name.contains("/") { try folder.giveToOwner("policies/syscalls") }
                try folder.giveToOwner(path)
            }
            guard let checkout, !checkout.kept.isEmpty else { return }
            try folder.makeDirectory("imported")
            try folder.giveToOwner("imported")
            let imported = try folder.openBeneath("imported", [.read, .directory])
            for file in checkout.kept {
                try imported.replace(file.name, with: file.bytes)
                try imported.giveToOwner(file.name)
            }
        }
        return try Experiment.open(path)
    }

    // The policies that ship, but for the level that they demand.
    private func policies() throws(SupervisorError) -> [BenchmarkFiles.NamedBytes] {
        guard let assurance else { return [] }
        let source = installation.policies
        var files: [BenchmarkFiles.NamedBytes] = []
        for folder in ["", "syscalls/"] {
            let names = try system("list the policies that ship", source) {
                () throws(SystemError) in
                try Descriptor.open("\(source)/\(folder)", [.read, .directory]).entries().sorted()
            }
            for name in names where name.hasSuffix(".yaml") {
                let bytes = try Installation.contents("\(source)/\(folder)\(name)")
                let text = Self.demanding(assurance, in: String(decoding: bytes, as: UTF8.self))
                files.append(.init(name: folder + name, bytes: Array(text.utf8)))
            }
        }
        return files
    }

    // A group of system calls demands no level, and stays as it is.
    private static func demanding(_ level: AssuranceLevel, in policy: String) -> String {
        let text = policy.replacing("\nassurance: full\n", with: "\nassurance: \(level.name)\n")
        guard text != policy else { return text }
        let reason = "because:\n  assurance: this host gives an ordinary user no more\n"
        return text.contains("\nbecause:\n")
            ? text.replacing("\nbecause:\n", with: "\n" + reason) : text + reason
    }

    private func policySection(_ path: String) -> [UInt8] {
        guard assurance != nil else { return [] }
        return Array("\nsandbox:\n  policies: \(Self.quoted("\(path)/policies"))\n".utf8)
    }

    private func claim(_ path: String, _ marker: [UInt8]) throws(SupervisorError) {
        do throws(SystemError) {
            let folder = try Descriptor.open(path, [.read, .directory])
            try folder.openBeneath(
                ExperimentMarker.name,
                [.write, .createNew],
                permissions: 0o600
            ).writeAll(marker)
        } catch {
            guard error.isAlreadyThere else {
                throw SupervisorError(error, "write the experiment", path)
            }
            throw SupervisorError(
                .usage,
                operation: "set up an experiment",
                location: path,
                reason: "there is one in this directory already",
                remedy: "name another directory, or go on with `invigilator prepare`"
            )
        }
    }

    private static func makeDirectory(_ path: String) throws(SystemError) {
        do throws(SystemError) {
            try StateLayout.makeDirectories(from: path, ownersInherit: true)
        } catch {
            guard error.isAlreadyThere else { throw error }
        }
    }

    private func createState(_ experiment: Experiment) throws(SupervisorError) {
        let id = experiment.id
        try layout.create()
        try layout.create(experiment: id)
        let time = WallClock.milliseconds
        let ledger = try ledgered { () throws(LedgerError) in
            try Ledger.create(at: layout.ledger(id), keyAt: layout.key(id), time: time)
        }
        if let key = experiment.key {
            let row = Experiment.binding(key.digest, ownedBy: experiment.user)
            try ledgered { () throws(LedgerError) in
                try ledger.append(.bound, row.body, time: time)
            }
        }
        try ledgered { () throws(LedgerError) in try ledger.close() }
        try system("give the record to the supervisor", layout.experiment(id)) {
            () throws(SystemError) in
            let folder = try Descriptor.open(layout.experiment(id), [.read, .directory])
            for name in try folder.entries() {
                try folder.setOwner(
                    of: name,
                    StateLayout.supervisor,
                    group: StateLayout.supervisorGroup
                )
            }
        }
    }
}

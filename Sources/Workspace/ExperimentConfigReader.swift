internal import StrictJSON
internal import StrictYAML

extension ExperimentConfig {
    /// Reads a configuration and resolves its defaults.
    ///
    /// - Parameters:
    ///   - bytes: the file's bytes.
    ///   - file: the file's name, for error texts.
    /// - Throws: ``WorkspaceError/document(_:)`` with every problem at once: unknown keys, keys
    ///   that contradict each other, wrong types, values out of range.
    public init(parsing bytes: [UInt8], file: String) throws(WorkspaceError) {
        let list = ProblemList(
            file: file,
            operation: "read the experiment's configuration",
            guide: "FORMATS.md"
        )
        var top = try list.top(of: bytes)
        let benchmark = Self.readBenchmark(&top)
        let agentModel = top.string("agent_model")
        let effort = top.word("reasoning_effort", of: ReasoningEffort.self)
        let concurrency = top.integer("max_concurrency", in: 1...256)?.value
        let timeout = top.integer("per_task_timeout", in: 1...86_400)?.value
        let userModel = top.string("user_model")
        var adapter = Self.readAdapterKeys(&top)
        adapter["user_model"] = userModel.map { .string($0.value) }
        Self.checkSplits(&top)
        Self.checkFileGuard(&top)
        let gate = Self.readGate(&top)
        let release = Self.readRelease(&top)
        let budget = Self.readBudget(&top)
        let sandbox = Self.readSandbox(&top)
        let isolation = top.word("isolation", of: Isolation.self)?.value ?? .host
        let codingAgent = Self.readCodingAgent(&top)
        let candidate = Self.readCandidate(&top)
        let manifest = ManifestSettings(reading: &top)
        let ledger = LedgerSettings.read(&top)
        let promotion = PromotionSettings(reading: &top)
        let models = ModelSettingsReader.read(
            &top,
            HarnessModels(agentModel: agentModel, effort: effort, userModel: userModel)
        )
        let audit = AuditSettings.read(&top)
        let tripwires = TripwireSettings.read(&top)
        let notify = NotifySettings.read(&top)
        let retention = RetentionSettings.read(&top)
        top.finish()
        try list.check()
        self.init(
            benchmark: benchmark,
            agentModel: agentModel?.value,
            reasoningEffort: effort?.value,
            maximumConcurrency: concurrency ?? 4,
            perTaskTimeout: timeout.map { .seconds($0) },
            adapter: adapter,
            gate: gate,
            release: release,
            budget: budget,
            sandbox: sandbox,
            isolation: isolation,
            codingAgent: codingAgent,
            candidate: candidate,
            ledger: ledger,
            models: models,
            manifest: manifest,
            audit: audit,
            tripwires: tripwires,
            promotion: promotion,
            notify: notify,
            retention: retention
        )
    }

    private static func readBenchmark(_ top: inout MappingReader) -> String {
        let remedy = "write a name such as helpdesk: lower-case letters, digits and «-»"
        guard top.has("benchmark") else {
            top.refuse("benchmark", line: top.place.line, "the key is missing", remedy: remedy)
            return ""
        }
        guard let name = top.string("benchmark") else { return "" }
        guard name.value.isBenchmarkName else {
            top.refuse("benchmark", line: name.line, "the name is malformed", remedy: remedy)
            return ""
        }
        return name.value
    }

    private static func readAdapterKeys(_ top: inout MappingReader) -> [String: JSONValue] {
        var adapter: [String: JSONValue] = [:]
        let texts = [
            "domain", "dataset", "env_provider", "mode", "bird_repo", "bird_python_bin",
            "bird_data_path", "pg_host", "pg_user", "pg_password",
        ]
        for key in texts {
            if let found = top.string(key) { adapter[key] = .string(found.value) }
        }
        let ports = ["system_agent_port", "user_sim_port", "db_env_port", "pg_port"]
        for key in ports {
            if let found = top.integer(key, in: 1...65_535) {
                adapter[key] = JSONValue(found.value)
            }
        }
        if let found = top.integer("patience", in: 0...100) {
            adapter["patience"] = JSONValue(found.value)
        }
        return adapter
    }

    private static func checkSplits(_ top: inout MappingReader) {
        let split = top.string("split")
        let gateSplit = top.string("gate_split")
        if let split, let gateSplit, split.value == gateSplit.value {
            top.refuse(
                "gate_split",
                line: gateSplit.line,
                "split and gate_split are both «\(split.value.printablePrefix(20))»",
                remedy: "write split: train and gate_split: test, or remove both"
            )
            return
        }
        if let split, split.value != "train" {
            top.refuse(
                "split",
                line: split.line,
                "only the train split may be shown to a coding agent",
                remedy: "write split: train, or remove the key"
            )
        }
        if let gateSplit, gateSplit.value != "test" {
            top.refuse(
                "gate_split",
                line: gateSplit.line,
                "only the sealed test split can decide",
                remedy: "write gate_split: test, or remove the key"
            )
        }
    }

    private static func checkFileGuard(_ top: inout MappingReader) {
        guard let found = top.bool("file_guard"), !found.value else { return }
        top.refuse(
            "file_guard",
            line: found.line,
            "only the files of the surface ever leave the coding sandbox; no key changes that",
            remedy: "remove the key"
        )
    }
}

extension ExperimentConfig {
    private static func readGate(_ top: inout MappingReader) -> GateSettings {
        let outer = top.number("threshold", in: 0...1)
        var section = top.mapping("gate")
        let inner = section?.number("threshold", in: 0...1)
        let step2 = section?.word("step2", of: GateSettings.Step2.self)?.value
        var settings = GateSettings(threshold: 0.8, step2: step2 ?? .afterStep1)
        settings.readRule(&section)
        section?.finish()
        if let outer, let inner, outer.value != inner.value {
            top.refuse(
                "gate.threshold",
                line: inner.line,
                "threshold says \(outer.value) and gate.threshold says \(inner.value)",
                remedy: "keep one of the two"
            )
        }
        settings.threshold = inner?.value ?? outer?.value ?? 0.8
        return settings
    }

    private static func readRelease(_ top: inout MappingReader) -> ReleaseSettings {
        var section = top.mapping("release")
        let score = section?.word("score", of: ReleaseSettings.Score.self)
        let bucket = section?.number("bucket", in: 0.01...0.5)
        let grid = section?.duration("grid", in: .milliseconds(100)...(.seconds(86_400)))
        let bits = section?.number("bits", in: 1...1_000_000)
        let counterBits = section?.number("counter-bits", in: 0.01...10)
        section?.finish()
        if let bucket, score?.value == .verdict || score?.value == .score {
            top.refuse(
                "release.bucket",
                line: bucket.line,
                "nothing is rounded to it: score is \(score?.value.rawValue ?? "")",
                remedy: "remove bucket, or write score: bucket or score: ladder"
            )
        }
        return ReleaseSettings(
            score: score?.value ?? .bucket,
            bucket: bucket?.value ?? 0.05,
            bits: bits?.value,
            counterBits: counterBits?.value ?? 0.1,
            grid: grid?.value ?? .seconds(30)
        )
    }

    private static func readBudget(_ top: inout MappingReader) -> BudgetSettings {
        var section = top.mapping("budget")
        let counts = 1...1_000_000
        let budget = BudgetSettings(
            iterations: section?.integer("iterations", in: counts)?.value ?? 50,
            hours: section?.number("hours", in: 0.01...10_000)?.value ?? 12,
            trainRuns: section?.integer("train-runs", in: 0...1_000_000)?.value ?? 500,
            noImprovement: section?.integer("no-improvement", in: counts)?.value ?? 5,
            submissions: section?.integer("submissions", in: counts)?.value ?? 100
        )
        section?.finish()
        return budget
    }

    private static func readSandbox(_ top: inout MappingReader) -> SandboxSettings {
        var section = top.mapping("sandbox")
        let policies = section?.string("policies")?.value
        let python = section?.string("python")
        let agents = section?.string("agents")
        section?.finish()
        for (key, path) in [("python", python), ("agents", agents)] {
            guard let path, !path.value.hasPrefix("/") else { continue }
            top.refuse(
                "sandbox.\(key)",
                line: path.line,
                "the path is not absolute",
                remedy:
                    "write the full path, such as /usr/bin/python3 or \(SandboxSettings.shippedAgents)"
            )
        }
        return SandboxSettings(
            policies: policies,
            python: python?.value,
            agents: agents?.value
        )
    }

    private static func readCandidate(_ top: inout MappingReader) -> CandidateSettings {
        var section = top.mapping("candidate")
        let packages = section?.path("packages")
        section?.finish()
        return CandidateSettings(packages: packages)
    }

    private static func readCodingAgent(_ top: inout MappingReader) -> CodingAgentSettings {
        var section = top.mapping("coding_agent")
        let profile = section?.string("profile")
        let command = section?.strings("command")
        let wall = section?.duration("wall", in: .seconds(1)...(.seconds(30 * 86_400)))
        let idle = section?.duration("idle", in: .seconds(1)...(.seconds(86_400)))
        let restarts = section?.integer("restarts", in: 0...10_000)
        section?.finish()
        if let profile, let command {
            top.refuse(
                "coding_agent.command",
                line: max(profile.line, command.line),
                "profile and command both say what to start",
                remedy: "keep one of the two"
            )
        }
        if let profile, !profile.value.isBenchmarkName, !profile.value.hasPrefix("/") {
            top.refuse(
                "coding_agent.profile",
                line: profile.line,
                "the name is malformed",
                remedy: "write a profile's name: lower-case letters, digits and «-»; or the"
                    + " absolute path of its directory"
            )
        }
        if let idle, idle.value > wall?.value ?? .seconds(12 * 3600) {
            top.refuse(
                "coding_agent.idle",
                line: idle.line,
                "it is longer than wall, so it would never end anything",
                remedy: "write a shorter time, or remove the key"
            )
        }
        if let command, command.value.first?.value.hasPrefix("/") != true {
            top.refuse(
                "coding_agent.command",
                line: command.line,
                "the command is empty or its first word is no absolute path",
                remedy: "write the program's path inside the sandbox first"
            )
        }
        let words = command?.value.map(\.value)
        return CodingAgentSettings(
            program: words.map { .command($0) } ?? .profile(profile?.value ?? "scripted"),
            wall: wall?.value ?? .seconds(12 * 3600),
            idle: idle?.value,
            restarts: restarts?.value
        )
    }
}

extension String {
    /// Whether this is 1 to 64 of lower-case letters, digits and `-`, beginning with a letter.
    var isBenchmarkName: Bool {
        let letters = UInt8(ascii: "a")...UInt8(ascii: "z")
        guard let first = utf8.first, letters.contains(first), utf8.count <= 64 else {
            return false
        }
        return utf8.allSatisfy { letters.contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D }
    }
}

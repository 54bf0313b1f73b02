internal import SandboxPlan
internal import SeccompCompiler
internal import StrictYAML

extension SandboxPolicy {
    /// Reads a policy document.
    ///
    /// - Parameters:
    ///   - bytes: the YAML text, at most 1 MB.
    ///   - file: the name used in errors.
    /// - Throws: ``PolicyRefusal`` with every problem of the document.
    public init(parsing bytes: [UInt8], file: String) throws(PolicyRefusal) {
        let problems = ProblemList(
            file: file,
            operation: "read a policy",
            guide: "policies/README.md"
        )
        let top = YAMLDocument.top(of: bytes, limit: Self.maximumBytes, problems)
        guard let top, let policy = PolicyReading(top: top).policy(file: file), problems.isEmpty
        else { throw PolicyRefusal(problems) }
        self = policy
    }

    /// The largest document; the shipped ones have a few kilobytes.
    static let maximumBytes = 1_000_000
}

/// Reads the top level of a policy document.
private struct PolicyReading {
    let top: YAMLNode

    /// The whole policy; nil when something that must be there is missing, which is then reported.
    func policy(file: String) -> SandboxPolicy? {
        guard var reader = top.mapping() else { return nil }
        let name = reader.required("policy")?.name()
        let _: Int? = reader.required("version")?.integer(in: 1...1)
        let role = reader.required("role").flatMap(role)
        let assurance = reader.required("assurance").flatMap(assurance)
        let root = reader.required("root").flatMap(PolicyRoot.init)
        let mounts = reader.optional("mounts")?.items()?.compactMap(PolicyMount.init)
        let proc = reader.required("proc")?.word(of: PolicyProc.self)
        let devices = reader.optional("devices")?.distinct { $0.word(of: DeviceName.self) }
        let environment = reader.optional("environment")?.entries()?.compactMap(variable)
        let directory = reader.required("working-directory")?.path()
        let command = reader.optional("command")?.items()?.compactMap {
            $0.text(atLeast: 1, limit: 65_536)
        }
        let streams: StreamMode? = reader.required("streams")?.choice([
            "pipes": .pipes, "terminal": .terminal,
        ])
        let network = reader.optional("network")?.word(of: NetworkView.self)
        let limits = reader.required("limits").flatMap { SandboxLimits($0, role: role) }
        let sockets = reader.optional("sockets")?.distinct { $0.word(of: SocketFamily.self) }
        let syscalls = reader.required("syscalls").flatMap(PolicySyscalls.init)
        let landlock = reader.required("landlock").flatMap(landlock)
        let descriptors = reader.optional("descriptors").map(descriptors)
        let because = reader.optional("because").map(Justifications.init)
        let surface = surface(
            save: reader.optional("save"),
            list: reader.optional("surface"),
            role: role
        )
        reader.finish()
        guard let name, let role, let assurance, let root, let proc, let directory, let streams,
            let limits, let syscalls, let landlock, let surface
        else { return nil }
        return SandboxPolicy(
            file: file,
            name: name,
            role: role,
            assurance: assurance,
            root: root,
            mounts: mounts ?? [],
            surface: surface,
            proc: proc,
            devices: devices?.map(\.value) ?? [],
            environment: (environment ?? []).sorted { $0.value.name < $1.value.name },
            workingDirectory: directory,
            command: command ?? [],
            streams: streams,
            network: network ?? .loopback,
            limits: limits,
            sockets: sockets?.map(\.value) ?? [],
            syscalls: syscalls,
            minimumABI: landlock.minimumABI,
            logsLandlock: landlock.isLogged,
            descriptors: descriptors ?? [],
            because: because ?? Justifications(),
            places: places()
        )
    }

    private func places() -> [String: DocumentPlace] {
        guard case .mapping(let entries) = top.content else { return [:] }
        return Dictionary(uniqueKeysWithValues: entries.map { ($0.name, $0.key.place) })
    }

    private func role(_ node: YAMLNode) -> SandboxRole? {
        node.choice([
            "coding": .coding, "candidate": .candidate, "examiner": .examiner, "broker": .broker,
        ])
    }

    private func assurance(_ node: YAMLNode) -> AssuranceLevel? {
        node.choice(
            Dictionary(uniqueKeysWithValues: AssuranceLevel.allCases.map { ($0.name, $0) })
        )
    }

    private func variable(_ entry: YAMLNode.Entry) -> Placed<EnvironmentVariable>? {
        entry.value.placed { node in
            node.text(atLeast: 0, limit: 65_536)
                .map { EnvironmentVariable(name: entry.name, value: $0) }
        }
    }

    /// `{minimum-abi: N, log: B}`; the rules follow from the mounts.
    private func landlock(_ node: YAMLNode) -> (minimumABI: UInt8, isLogged: Bool)? {
        guard var reader = node.mapping() else { return nil }
        let minimum: UInt8? = reader.required("minimum-abi")?.integer(in: 1...99)
        let log = reader.optional("log")
        let isLogged = log.map { $0.boolean() } ?? false
        reader.finish()
        guard let minimum, let isLogged else { return nil }
        if isLogged, minimum < 7 { log?.refuse(.logBeforeABI7) }
        return (minimum, isLogged)
    }

    private func descriptors(_ node: YAMLNode) -> [DescriptorSlot] {
        let purposes: [String: DescriptorPurpose] = [
            "frames": .frames, "verdicts": .verdicts, "control": .control,
        ]
        let entries = node.entries(remedy: "write {3: frames}, or {} for none") ?? []
        return entries.compactMap { entry -> DescriptorSlot? in
            let number: UInt8? = entry.key.integer(in: 3...31)
            let purpose = entry.value.choice(purposes)
            guard let number, let purpose else { return nil }
            return DescriptorSlot(number: number, purpose: purpose)
        }.sorted { $0.number < $1.number }
    }

    /// `save` and `surface` say which files of the coding agent are kept, and how it sees them.
    private func surface(save: YAMLNode?, list: YAMLNode?, role: SandboxRole?) -> Surface? {
        if let node = save ?? list, let role, role != .coding {
            node.refuse(.nothingKept)
        }
        let way = save.map { $0.word(of: Surface.Save.self) } ?? .replace
        let patterns = list.map { ($0.items() ?? []).compactMap(pattern) }
        guard let way else { return nil }
        let surface = Surface(save: way, patterns: patterns ?? Surface.standard.patterns)
        let texts = surface.patterns.map(\.text)
        let fault: PolicyFault? =
            if !texts.contains(Surface.program) {
                .programNotListed
            } else if Set(texts).count < texts.count || texts.count > 32 {
                .surfaceTooLong
            } else if way == .inPlace, !surface.patterns.allSatisfy(\.isFile) {
                .patternInPlace
            } else { nil }
        guard let fault else { return surface }
        (list ?? save ?? top).refuse(fault)
        return nil
    }

    private func pattern(_ node: YAMLNode) -> SurfacePattern? {
        guard let text = node.text() else { return nil }
        if let pattern = SurfacePattern(checking: text) { return pattern }
        node.refuse(.noAgentFile(text.debugDescription))
        return nil
    }
}

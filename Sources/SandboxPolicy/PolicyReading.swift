internal import SandboxPlan
internal import SeccompCompiler

extension SandboxPolicy {
    /// Reads a policy document.
    ///
    /// - Parameters:
    ///   - bytes: the YAML text, at most 1 MB.
    ///   - file: the name used in errors.
    /// - Throws: ``PolicyRefusal`` with every problem of the document.
    public init(parsing bytes: [UInt8], file: String) throws(PolicyRefusal) {
        let problems = ProblemList(file: file, operation: "read a policy")
        let top = try PolicyDocument.top(of: bytes, problems)
        let reading = PolicyReading(top, problems)
        guard let policy = reading.policy(file: file), problems.problems.isEmpty else {
            throw PolicyRefusal(problems.problems)
        }
        self = policy
    }
}

/// Reads the top level of a policy document.
private struct PolicyReading {
    let problems: ProblemList
    let top: PolicyNode
    let scalars: ScalarReading

    init(_ top: PolicyNode, _ problems: ProblemList) {
        self.top = top
        self.problems = problems
        scalars = ScalarReading(problems: problems)
    }

    /// The whole policy; nil when something that must be there is missing, which is then reported.
    func policy(file: String) -> SandboxPolicy? {
        var reader = MappingReader(top, problems)
        let name = PolicyName.read(reader.required("policy"), scalars)
        let _: Int? = scalars.integer(reader.required("version"), in: 1...1)
        let role = role(reader.required("role"))
        let assurance = assurance(reader.required("assurance"))
        let parts = MountReading(problems: problems)
        let root = reader.required("root").flatMap(parts.root)
        let mounts = scalars.list(reader.optional("mounts")).compactMap(parts.mount)
        let proc: PolicyProc? = scalars.choice(reader.required("proc"), named(PolicyProc.allCases))
        let devices = devices(reader.optional("devices"))
        let environment = environment(reader.optional("environment"))
        let directory = scalars.path(reader.required("working-directory"))
        let command = scalars.texts(reader.optional("command"))
        let streams: StreamMode? = scalars.choice(
            reader.required("streams"),
            ["pipes": .pipes, "terminal": .terminal]
        )
        let view = reader.optional("network")
        let network: NetworkView? = scalars.choice(view, named(NetworkView.allCases))
        let limits = reader.required("limits").flatMap(LimitReading(problems: problems).limits)
        let sockets = scalars.distinct(reader.optional("sockets")) {
            scalars.choice($0, named(SocketFamily.allCases))
        }
        let syscalls = reader.required("syscalls").map(syscalls)
        let minimumABI = reader.required("landlock").flatMap(parts.landlock)
        let descriptors = descriptors(reader.optional("descriptors"))
        let surface = surface(
            save: reader.optional("save"),
            list: reader.optional("surface"),
            role: role
        )
        reader.finish()
        guard let name, let role, let assurance, let root, let proc, let directory, let streams,
            let limits, let syscalls, let minimumABI, let surface
        else { return nil }
        return SandboxPolicy(
            file: file,
            name: name,
            role: role,
            assurance: assurance,
            root: root,
            mounts: mounts,
            surface: surface,
            proc: proc,
            devices: devices,
            environment: environment,
            workingDirectory: directory,
            command: command,
            streams: streams,
            network: network ?? .loopback,
            limits: limits,
            sockets: sockets,
            syscalls: syscalls,
            minimumABI: minimumABI,
            descriptors: descriptors,
            places: places()
        )
    }

    private func named<Value: RawRepresentable<String>>(_ values: [Value]) -> [String: Value] {
        Dictionary(uniqueKeysWithValues: values.map { ($0.rawValue, $0) })
    }

    private func places() -> [String: PolicyPlace] {
        guard case .mapping(let entries) = top.content else { return [:] }
        return Dictionary(uniqueKeysWithValues: entries.map { ($0.key, $0.place) })
    }

    private func role(_ node: PolicyNode?) -> SandboxRole? {
        scalars.choice(
            node,
            ["coding": .coding, "candidate": .candidate, "examiner": .examiner, "broker": .broker]
        )
    }

    private func assurance(_ node: PolicyNode?) -> AssuranceLevel? {
        scalars.choice(
            node,
            Dictionary(uniqueKeysWithValues: AssuranceLevel.allCases.map { ($0.name, $0) })
        )
    }

    private func devices(_ node: PolicyNode?) -> [DeviceName] {
        scalars.distinct(node) { scalars.choice($0, named(DeviceName.allCases)) }
    }

    private func environment(_ node: PolicyNode?) -> [Placed<EnvironmentVariable>] {
        guard let node else { return [] }
        var reader = MappingReader(node, problems)
        var variables: [Placed<EnvironmentVariable>] = []
        for key in reader.keys.sorted() {
            guard let value = reader.optional(key) else { continue }
            guard case .text(let text) = value.content else {
                problems.add(value.place, .noText(value.kind))
                continue
            }
            variables.append(
                Placed(EnvironmentVariable(name: key, value: text), at: value.place)
            )
        }
        return variables
    }

    private func syscalls(_ node: PolicyNode) -> PolicySyscalls {
        var reader = MappingReader(node, problems)
        let groups = scalars.distinct(reader.required("groups")) { item in
            PolicyName.read(item, scalars).map { Placed($0, at: item.place) }
        }
        let allow = SyscallReading(problems: problems).rules(reader.optional("allow"))
        let refuse = scalars.list(reader.optional("refuse")).compactMap { item in
            scalars.text(item).map { Placed($0, at: item.place) }
        }
        reader.finish()
        return PolicySyscalls(groups: groups, allow: allow, refuse: refuse)
    }

    private func descriptors(_ node: PolicyNode?) -> [DescriptorSlot] {
        guard let node else { return [] }
        guard case .mapping(let entries) = node.content else {
            problems.add(node.place, .noMapping(node.kind, "write {3: frames}, or {} for none"))
            return []
        }
        let purposes: [String: DescriptorPurpose] = [
            "frames": .frames, "verdicts": .verdicts, "control": .control,
        ]
        return entries.compactMap { entry -> DescriptorSlot? in
            let key = PolicyNode(content: .text(entry.key), place: entry.place)
            let number: UInt8? = scalars.integer(key, in: 3...31)
            let purpose = scalars.choice(entry.value, purposes)
            guard let number, let purpose else { return nil }
            return DescriptorSlot(number: number, purpose: purpose)
        }.sorted { $0.number < $1.number }
    }

    /// `save` and `surface` say which files of the coding agent are kept, and how it sees them.
    private func surface(save: PolicyNode?, list: PolicyNode?, role: SandboxRole?) -> Surface? {
        if let node = save ?? list, let role, role != .coding {
            problems.add(node.place, .nothingKept)
        }
        let way = save.map { scalars.choice($0, named(Surface.Save.allCases)) } ?? .replace
        let patterns = list.map { scalars.list($0).compactMap(pattern) }
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
        problems.add((list ?? save ?? top).place, fault)
        return nil
    }

    private func pattern(_ node: PolicyNode) -> SurfacePattern? {
        guard let text = scalars.text(node) else { return nil }
        if let pattern = SurfacePattern(checking: text) { return pattern }
        problems.add(node.place, .noAgentFile(text.debugDescription))
        return nil
    }
}

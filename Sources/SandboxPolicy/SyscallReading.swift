internal import SeccompCompiler
internal import StrictYAML

extension PolicySyscalls {
    /// Reads the key `syscalls`.
    init?(_ node: YAMLNode) {
        guard var reader = node.mapping() else { return nil }
        let groups = reader.required("groups")?.distinct { $0.name() }
        let allow = reader.optional("allow").map(SyscallReading.rules)
        let refuse = reader.optional("refuse")?.items()?.compactMap { $0.placed { $0.text() } }
        reader.finish()
        self.init(groups: groups ?? [], allow: allow ?? [], refuse: refuse ?? [])
    }
}

/// Reads rules of system calls: `name`, or `{call: name, when: [...]}`.
private enum SyscallReading {
    /// Reads a list of rules; a rule with several permitted values becomes several rules.
    static func rules(_ node: YAMLNode) -> [Placed<SyscallRule>] {
        (node.items() ?? []).flatMap(rules(of:))
    }

    private static func rules(of item: YAMLNode) -> [Placed<SyscallRule>] {
        guard case .mapping = item.content else {
            return item.text().map { checked([SyscallRule($0)], item) } ?? []
        }
        guard var reader = item.mapping() else { return [] }
        let name = reader.required("call")?.text()
        let conditions = reader.required("when")?.items()?.map(alternatives(of:)) ?? []
        reader.finish()
        guard let name else { return [] }
        guard !conditions.isEmpty else {
            item.refuse(.noCondition)
            return []
        }
        return checked(combined(name, conditions), item)
    }

    /// Making a socket is said by the key sockets and nowhere else.
    private static func checked(
        _ rules: [SyscallRule],
        _ item: YAMLNode
    ) -> [Placed<SyscallRule>] {
        if let rule = rules.first, ["socket", "socketpair"].contains(rule.call) {
            item.refuse(.socketCall(rule.call))
            return []
        }
        return rules.map { Placed($0, at: item.place) }
    }

    /// One condition for each permitted value of one argument.
    private static func alternatives(of node: YAMLNode) -> [ArgumentCondition] {
        guard var reader = node.mapping() else { return [] }
        let argument: UInt8? = reader.required("argument")?.integer(in: 0...5)
        let mask: UInt32? = reader.optional("mask").map { $0.integer(in: 1...UInt32.max) } ?? .max
        let list = reader.required("in")
        let values = list?.distinct { $0.integer(in: 0...UInt32.max) } ?? []
        reader.finish()
        guard let argument, let mask else { return [] }
        if values.isEmpty { list?.refuse(.noValue) }
        return values.compactMap { value in
            do throws(SeccompError) {
                return try ArgumentCondition(argument: argument, mask: mask, equals: value.value)
            } catch {
                node.refuse("\(error)", remedy: "correct mask and values")
                return nil
            }
        }
    }

    /// Every combination of one value an argument.
    private static func combined(
        _ name: String,
        _ conditions: [[ArgumentCondition]]
    ) -> [SyscallRule] {
        conditions.reduce([SyscallRule(name)]) { rules, alternatives in
            rules.flatMap { rule in
                alternatives.map { SyscallRule(name, when: rule.conditions + [$0]) }
            }
        }
    }
}

extension SyscallGroup {
    /// Reads a group document.
    ///
    /// - Parameters:
    ///   - bytes: the YAML text.
    ///   - file: the name used in errors.
    /// - Throws: ``PolicyRefusal`` with every problem.
    public init(parsing bytes: [UInt8], file: String) throws(PolicyRefusal) {
        let problems = ProblemList(
            file: file,
            operation: "read a group of system calls",
            guide: "policies/README.md"
        )
        let top = YAMLDocument.top(of: bytes, limit: SandboxPolicy.maximumBytes, problems)
        var reader = top?.mapping()
        let name = reader?.required("group")?.name()
        let reason = reader?.required("reason")?.text()
        let rules = reader?.required("calls").map(SyscallReading.rules) ?? []
        reader?.finish()
        guard let name, let reason, problems.isEmpty else { throw PolicyRefusal(problems) }
        self.init(name: name, reason: reason, rules: rules, file: file)
    }
}

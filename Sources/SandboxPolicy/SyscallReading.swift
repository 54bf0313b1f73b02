internal import SeccompCompiler

/// Reads rules of system calls: `name`, or `{call: name, when: [...]}`.
struct SyscallReading {
    let problems: ProblemList
    private var scalars: ScalarReading { ScalarReading(problems: problems) }

    init(problems: ProblemList) {
        self.problems = problems
    }

    /// Reads a list of rules; a rule with several permitted values becomes several rules.
    func rules(_ node: PolicyNode?) -> [Placed<SyscallRule>] {
        scalars.list(node).flatMap(rules(of:))
    }

    private func rules(of item: PolicyNode) -> [Placed<SyscallRule>] {
        if case .text = item.content {
            guard let name = scalars.text(item) else { return [] }
            return checked([SyscallRule(name)], item.place)
        }
        var reader = MappingReader(item, problems)
        let name = scalars.text(reader.required("call"))
        let conditions = scalars.list(reader.required("when")).map(alternatives(of:))
        reader.finish()
        guard let name else { return [] }
        guard !conditions.isEmpty else {
            problems.add(item.place, .noCondition)
            return []
        }
        return checked(combined(name, conditions), item.place)
    }

    /// Making a socket is said by the key sockets and nowhere else.
    private func checked(
        _ rules: [SyscallRule],
        _ place: PolicyPlace
    ) -> [Placed<SyscallRule>] {
        if let rule = rules.first, ["socket", "socketpair"].contains(rule.call) {
            problems.add(place, .socketCall(rule.call))
            return []
        }
        return rules.map { Placed($0, at: place) }
    }

    /// One condition for each permitted value of one argument.
    private func alternatives(of node: PolicyNode) -> [ArgumentCondition] {
        var reader = MappingReader(node, problems)
        let argument: UInt8? = scalars.integer(reader.required("argument"), in: 0...5)
        let maskNode = reader.optional("mask")
        let mask: UInt32? = maskNode == nil ? .max : scalars.integer(maskNode, in: 1...UInt32.max)
        let valuesNode = reader.required("in")
        let values: [UInt32] = scalars.distinct(valuesNode) {
            scalars.integer($0, in: 0...UInt32.max)
        }
        reader.finish()
        guard let argument, let mask else { return [] }
        if let valuesNode, values.isEmpty {
            problems.add(valuesNode.place, .noValue)
        }
        return values.compactMap { value in
            do throws(SeccompError) {
                return try ArgumentCondition(argument: argument, mask: mask, equals: value)
            } catch {
                problems.add(node.place, error.description, remedy: "correct mask and values")
                return nil
            }
        }
    }

    /// Every combination of one value an argument.
    private func combined(
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
        let problems = ProblemList(file: file, operation: "read a group of system calls")
        let top = try PolicyDocument.top(of: bytes, problems)
        let scalars = ScalarReading(problems: problems)
        var reader = MappingReader(top, problems)
        let name = PolicyName.read(reader.required("group"), scalars)
        let reason = scalars.text(reader.required("reason"))
        let rules = SyscallReading(problems: problems).rules(reader.required("calls"))
        reader.finish()
        try problems.check()
        guard let name, let reason else { throw PolicyRefusal(problems.problems) }
        self.init(name: name, reason: reason, rules: rules, file: file)
    }
}

/// Names of policies and groups.
enum PolicyName {
    /// Reads a name of 1 to 64 bytes of `[a-z0-9-]`.
    static func read(_ node: PolicyNode?, _ scalars: ScalarReading) -> String? {
        guard let node, let name = scalars.text(node) else { return nil }
        let isPlain = name.utf8.allSatisfy { byte in
            (97...122).contains(byte) || (48...57).contains(byte) || byte == 45
        }
        guard isPlain, name.utf8.count <= 64 else {
            scalars.problems.add(node.place, .noName(name.debugDescription))
            return nil
        }
        return name
    }
}

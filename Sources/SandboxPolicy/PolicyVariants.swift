public import SeccompCompiler
internal import StrictYAML

// Policies that nobody wrote, to be looked at: what would change, and what would be said of it.
extension SandboxPolicy {
    /// The policy as it is compared with another: with a reason for everything, since a document from
    /// before reasons were asked for can be compared too.
    ///
    /// - Parameter groups: the groups of system calls by name.
    /// - Returns: the policy with reasons.
    public func forComparison(groups: [String: SyscallGroup]) -> SandboxPolicy {
        var policy = self
        policy.because = Justifications()
        for allowance in dangerousAllowances(groups: groups) {
            policy.because.add("compared", to: allowance)
        }
        return policy
    }

    /// The policy with one more group, or one more rule.
    ///
    /// - Parameters:
    ///   - group: a group's name.
    ///   - rule: what is allowed beside the groups.
    /// - Returns: the policy with them.
    public func allowing(group: String?, rule: SyscallRule?) -> SandboxPolicy {
        var policy = self
        let place = place(of: "syscalls")
        policy.syscalls = PolicySyscalls(
            groups: syscalls.groups + (group.map { [Placed($0, at: place)] } ?? []),
            allow: syscalls.allow + (rule.map { [Placed($0, at: place)] } ?? []),
            refuse: syscalls.refuse
        )
        return policy
    }
}

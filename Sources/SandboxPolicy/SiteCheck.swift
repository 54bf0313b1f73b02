public import SandboxPlan
internal import SeccompCompiler
internal import StrictYAML

extension SitePolicy {
    /// Adds every bound that a policy goes beyond, where the policy says it.
    func check(
        _ policy: SandboxPolicy,
        groups: [String: SyscallGroup],
        _ variables: PolicyVariables,
        _ problems: ProblemList
    ) {
        for document in documents where document.roles.contains(policy.role) {
            for bound in document.bounds {
                let check = SiteCheck(policy: policy, groups: groups, variables: variables)
                for (place, excess) in check.excesses(over: bound.value) {
                    problems.add(place, .beyondSite(excess, bound.place, document))
                }
            }
        }
    }

    /// What is wrong with limits that were set after a policy was resolved, by an experiment's
    /// configuration.
    ///
    /// - Parameters:
    ///   - limits: the limits of the plan.
    ///   - role: what the payload is.
    ///   - file: where they were set, for the error.
    /// - Throws: ``PolicyRefusal`` with every limit that is beyond a bound.
    public func require(
        _ limits: SandboxLimits,
        of role: SandboxRole,
        setBy file: String
    ) throws(PolicyRefusal) {
        let problems = ProblemList(file: file, operation: "hold limits against the site's policy")
        for document in documents where document.roles.contains(role) {
            for bound in document.bounds {
                guard case .limit(let key, let most, let text) = bound.value,
                    let excess = SiteCheck.excess(of: limits, key, most, text)
                else { continue }
                let place = DocumentPlace(line: 1, key: "\(role), limits.\(key.rawValue)")
                problems.add(place, .beyondSite(excess, bound.place, document))
            }
        }
        guard problems.isEmpty else { throw PolicyRefusal(problems) }
    }
}

/// Holds one policy against bounds.
private struct SiteCheck {
    let policy: SandboxPolicy
    let groups: [String: SyscallGroup]
    let variables: PolicyVariables

    /// What the policy has beyond a bound, each with where it says so.
    func excesses(over bound: SiteBound) -> [(DocumentPlace, String)] {
        switch bound {
        case .assurance(let least):
            guard policy.assurance < least else { return [] }
            return [(policy.place(of: "assurance"), "assurance \(policy.assurance.name)")]
        case .minimumABI(let least):
            guard policy.minimumABI < least else { return [] }
            return [(policy.place(of: "landlock"), "minimum-abi \(policy.minimumABI)")]
        case .network(let views):
            guard !views.contains(policy.network) else { return [] }
            return [(policy.place(of: "network"), "network \(policy.network.rawValue)")]
        case .proc(let views):
            guard !views.contains(policy.proc) else { return [] }
            return [(policy.place(of: "proc"), "proc \(policy.proc.rawValue)")]
        case .sockets(let families):
            return policy.sockets.filter { !families.contains($0) }
                .map { (policy.place(of: "sockets"), "the family \($0.rawValue)") }
        case .devices(let names):
            return policy.devices.filter { !names.contains($0) }
                .map { (policy.place(of: "devices"), "the device \($0.rawValue)") }
        case .sources(let roots): return sources(outside: roots)
        case .onlyCalls(let names): return calls { !names.contains($0) }
        case .neverCalls(let names): return calls { names.contains($0) }
        case .limit(let key, let most, let text):
            let place = policy.place(of: "limits").child(key.rawValue)
            return Self.excess(of: policy.limits, key, most, text).map { [(place, $0)] } ?? []
        }
    }

    static func excess(
        of limits: SandboxLimits,
        _ key: LimitKey,
        _ most: UInt64,
        _ text: String
    ) -> String? {
        guard let value = key.value(of: limits) else { return "no limit \(key.rawValue)" }
        return value > most ? "\(key.rawValue) above \(text)" : nil
    }

    // A variable that is unknown is the resolution's problem.
    private func sources(outside roots: [String]) -> [(DocumentPlace, String)] {
        policy.mounts.compactMap { mount in
            guard case .host(let text) = mount.source, let path = variables.expanded(text),
                !roots.contains(where: { path == $0 || path.hasPrefix($0 + "/") })
            else { return nil }
            return (mount.place, "the source \(path.printablePrefix(200))")
        }
    }

    private func calls(_ isBeyond: (String) -> Bool) -> [(DocumentPlace, String)] {
        let refused = Set(policy.syscalls.refuse.map(\.value))
        var seen: Set<String> = []
        var found: [(DocumentPlace, String)] = []
        func look(_ call: String, _ place: DocumentPlace) {
            guard isBeyond(call), seen.insert(call).inserted else { return }
            found.append((place, "the call \(call)"))
        }
        for group in policy.syscalls.groups {
            for rule in groups[group.value]?.rules ?? [] where !refused.contains(rule.value.call) {
                look(rule.value.call, group.place)
            }
        }
        for rule in policy.syscalls.allow { look(rule.value.call, rule.place) }
        if !policy.sockets.isEmpty { look("socket", policy.place(of: "sockets")) }
        if policy.sockets.contains(.unix) { look("socketpair", policy.place(of: "sockets")) }
        return found
    }
}

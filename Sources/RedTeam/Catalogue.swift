public import SandboxPlan

/// Every attack, and a choice among them.
public enum Catalogue {
    /// Every attack, family by family.
    public static let all: [Probe] =
        FileProbes.all + MountProbes.all + ProcessProbes.all + NamespaceProbes.all
        + CapabilityProbes.all + CallProbes.all + SocketProbes.all + TerminalProbes.all
        + DescriptorProbes.all + KeyProbes.all + ObjectProbes.all + CredentialProbes.all
        + KernelFileProbes.all + ExhaustionProbes.all + TimeoutProbes.all + PairProbes.all
        + RelayProbes.all + LedgerProbes.all + EndpointProbes.all

    /// The attacks that a user asked for.
    ///
    /// - Parameters:
    ///   - ids: names; every attack when there is none.
    ///   - family: a family; every one when there is none.
    ///   - role: a sandbox; every one when there is none.
    /// - Returns: those of them that exist, in the catalogue's order.
    public static func chosen(
        ids: [String],
        family: ProbeFamily?,
        role: SandboxRole?
    ) -> [Probe] {
        all.filter { probe in
            (ids.isEmpty || ids.contains(probe.id)) && (family ?? probe.family) == probe.family
                && (role.map { probe.roles.contains($0) } ?? true)
        }
    }
}

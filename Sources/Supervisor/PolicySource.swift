internal import HostKernel
public import SandboxPlan
internal import SandboxPolicy
internal import Workspace

/// A directory of policies, resolved against this host.
public struct PolicySource {
    private let directory: String
    private let layout: StateLayout
    // Whose configuration names the directory; absent where it ships or the operator names it.
    private var namedBy: FileRights?

    /// Names the directory.
    public init(directory: String, layout: StateLayout) {
        self.directory = directory
        self.layout = layout
    }

    /// The policies of an experiment.
    init(
        _ config: ExperimentConfig,
        of owner: FileRights,
        layout: StateLayout,
        installation: Installation
    ) {
        self.init(
            directory: config.sandbox.policies ?? installation.policies,
            layout: layout
        )
        if config.sandbox.policies != nil { namedBy = owner }
    }

    /// Whether the site lets everybody's configurations use a key of root's for an upstream.
    static func sharedKeys() throws(SupervisorError) -> (ModelKeySource, String) -> Bool {
        do throws(PolicyRefusal) {
            let site = try SitePolicy.installed()
            return { site.shares(key: $0.siteName, for: $1) }
        } catch { throw SupervisorError(.usage, error) }
    }

    /// Refuses limits that an experiment's configuration sets beyond what the site allows.
    func require(_ plan: SandboxPlan) throws(SupervisorError) {
        do throws(PolicyRefusal) {
            try SitePolicy.installed().require(
                plan.limits,
                of: plan.role,
                setBy: "experiment_config.yaml"
            )
        } catch { throw SupervisorError(.usage, error) }
    }

    /// The digest of what the site bounds policies by; absent where it bounds nothing.
    static func siteDigest() throws(SupervisorError) -> String? {
        do throws(PolicyRefusal) {
            return try SitePolicy.installed().digest.map { "\($0)" }
        } catch { throw SupervisorError(.usage, error) }
    }

    /// The plan of a policy.
    public func plan(
        _ name: String,
        pythonPrefix: String,
        vaultSplit: String?
    ) throws(SupervisorError) -> SandboxPlan {
        try resolved(name, pythonPrefix: pythonPrefix, vaultSplit: vaultSplit).plan
    }

    func resolved(
        _ name: String,
        pythonPrefix: String,
        vaultSplit: String?,
        showing paths: [String] = [],
        of origin: ProfileOrigin? = nil
    ) throws(SupervisorError) -> ResolvedPolicy {
        let policy: SandboxPolicy
        let resolver: PolicyResolver
        do throws(PolicyRefusal) {
            let library = try PolicyLibrary(directory: directory, namedBy: namedBy)
            resolver = PolicyResolver(
                groups: library.groups,
                context: try .host(
                    stateDirectory: layout.root,
                    variables: PolicyVariables(
                        pythonPrefix: pythonPrefix,
                        vaultSplit: vaultSplit
                    )
                )
            )
            policy = try library.policy(named: name)
        } catch { throw SupervisorError(.usage, error) }
        let resolved: ResolvedPolicy
        if let origin {
            resolved = try origin.resolve(policy, showing: paths, resolver)
        } else {
            do throws(PolicyRefusal) {
                resolved = try resolver.resolve(policy.showing(paths))
            } catch {
                throw SupervisorError(.usage, error)
            }
        }
        guard let missing = paths.first(where: resolved.missingSources.contains) else {
            return resolved
        }
        throw SupervisorError(
            .usage,
            operation: "read the policy \(name)",
            location: missing,
            reason: "it is to be shown in the sandbox and does not exist",
            remedy: "install it, or correct its path"
        )
    }
}

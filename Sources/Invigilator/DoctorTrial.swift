// What `doctor` does as root: everything that needs root first, then the quick set of probes under the
// three policies, the level, the limit of memory, and plans that must be refused.

internal import HostProbe
internal import LauncherClient
internal import LinuxKernel
internal import SandboxPlan
internal import SelfCheck
internal import Supervisor

/// Sandboxes of all roles, made to be looked at.
struct DoctorTrial {
    private let options: PolicyOptions
    private let layout: StateLayout

    /// Prepares it.
    init(_ options: PolicyOptions) throws(SupervisorError) {
        self.options = options
        layout = options.state.place
    }

    /// Carries everything out and adds what was found.
    func carryOut(_ diagnosis: inout Diagnosis) throws(SupervisorError) {
        let python: PythonInterpreter
        do throws(HostProbeError) {
            python = try PythonSearch.find(named: options.python, homes: ["/root"])
        } catch {
            throw SupervisorError(.hostFailed, error)
        }
        let installation = try Installation.find()
        let image = try SandboxSite.buildImage(of: python, layout)
        let vault = try RedTeamVault(in: layout)
        let plans: [SandboxPlan]
        let site: SandboxSite
        do throws(SupervisorError) {
            plans = try resolved(python, vault)
            site = try SandboxSite(layout: layout, installation: installation, image: image)
        } catch {
            try vault.remove()
            throw error
        }
        do throws(SupervisorError) {
            try look(plans, site, &diagnosis)
            diagnosis.add(try honest(plans[1], site))
        } catch {
            try vault.remove()
            throw error
        }
        try vault.remove()
        try site.close()
    }

    private func resolved(
        _ python: PythonInterpreter,
        _ vault: RedTeamVault
    ) throws(SupervisorError) -> [SandboxPlan] {
        let source = PolicySource(directory: try options.policyDirectory(), layout: layout)
        let prefix = python.sandboxPrefix
        return [
            try source.plan("coding-agent", pythonPrefix: prefix, vaultSplit: nil),
            try source.plan("candidate", pythonPrefix: prefix, vaultSplit: nil),
            try source.plan("examiner", pythonPrefix: prefix, vaultSplit: vault.train),
        ]
    }

    private func look(
        _ plans: [SandboxPlan],
        _ site: SandboxSite,
        _ diagnosis: inout Diagnosis
    ) throws(SupervisorError) {
        let compiled = plans.map { CompiledPlan($0) }
        let measured = try site.measure(under: compiled[1])
        diagnosis.measured = measured
        if measured.level == .noUserNamespace, let shortfall = measured.shortfall {
            diagnosis.invariants = Invariant.allCases.map {
                InvariantFinding(unknown: $0, because: shortfall.reason, cure: shortfall.remedy)
            }
            return
        }
        let state = try kernel("look at the state directory", layout.root) {
            () throws(SystemError) in
            let status = try FileStatus(path: layout.root)
            return PinnedSource(
                path: layout.root,
                device: status.device,
                inode: status.inode,
                isDirectory: true
            )
        }
        do throws(LauncherError) {
            let findings = try site.quickSet.findings(under: compiled)
            let memory = try site.quickSet.memoryFinding(under: compiled[1])
            let trials = try site.quickSet.trials(compiled, state: state)
            let cure =
                Identity.effectiveUser == StateLayout.rootsSupervisor
                ? nil : measured.shortfall?.remedy
            diagnosis.invariants = Invariant.allCases.map {
                let seen = findings + ($0 == .coreDumps ? [] : [memory])
                let finding = InvariantFinding($0, from: seen, trials: trials)
                return cure.map(finding.cured) ?? finding
            }
        } catch {
            throw SupervisorError(error)
        }
    }

    private func honest(
        _ plan: SandboxPlan,
        _ site: SandboxSite
    ) throws(SupervisorError) -> HostCheck {
        let compiled = CompiledPlan(plan)
        if let shortfall = site.measured?.shortfall {
            let reason = "nothing was run: \(shortfall.reason)"
            return HostCheck("sandbox", .gap(cure: shortfall.remedy), reason)
        }
        let outcome = try SandboxRun(
            site: site,
            plan: plan,
            compiled: compiled,
            command: ["/usr/bin/true"]
        ).carryOut()
        guard outcome.status == 0 else {
            let cure = "run `invigilator sandbox exec --policy candidate --json -- /usr/bin/true`"
            let found = "/usr/bin/true ended with \(outcome.status) under the candidate plan"
            return HostCheck("sandbox", .gap(cure: cure), found)
        }
        return HostCheck(
            "sandbox",
            .good,
            "/usr/bin/true ran under the candidate plan \(compiled.digest), set up in "
                + "\(Decimal.text(outcome.setupMilliseconds, decimals: 1)) ms"
        )
    }
}

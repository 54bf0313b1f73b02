internal import HostKernel
internal import ArgumentParser
internal import HostProbe
internal import LauncherClient
internal import LauncherProtocol
internal import LinuxKernel
internal import PolicyEffects
internal import SandboxPlan
internal import SandboxPolicy
internal import Supervisor
internal import Workspace

/// `doctor`.
struct DoctorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Say what this host enforces, and how to close each gap.",
        discussion: """
            The assurance level is measured by doing: as root, /usr/bin/true is run in a sandbox \
            under the shipped candidate plan. Without root only facts are read and no level is \
            claimed. Exit code 3 when the level is not `full`.
            """
    )

    @Flag(help: "Print the findings for programs.")
    var json = false

    @OptionGroup var options: PolicyOptions

    func run() throws {
        let facts = HostFacts.probe(pythonPath: options.python, homes: ["/root"])
        var diagnosis = Diagnosis(facts: facts)
        diagnosis.add(HostChecks(facts).all)
        diagnosis.add(python())
        diagnosis.add(git())
        diagnosis.add(policies())
        measure(&diagnosis)
        try json ? Console.write(diagnosis.json) : Console.write(diagnosis.text)
        guard diagnosis.isSound else { throw ExitCode(ExitStatus.hostFailed.rawValue) }
    }

    // MARK: - what is read

    private func python() -> HostCheck {
        do throws(HostProbeError) {
            let found = try PythonSearch.find(named: options.python, homes: ["/root"])
            return HostCheck("python", .good, "\(found.path), version \(found.version)")
        } catch {
            return HostCheck("python", .gap(cure: error.remedy), error.reason)
        }
    }

    private func git() -> HostCheck {
        let cure = "install git 2.30 or newer (apt-get install git)"
        do throws(SystemError) {
            let outcome = try Spawn.run(
                GitCommand.executable,
                arguments: ["--version"],
                environment: ["PATH=/usr/bin:/bin", "LC_ALL=C", "HOME=/nonexistent"]
            )
            let said = SafeText.cleaned(
                String(decoding: outcome.output.prefix { $0 != 10 }, as: UTF8.self),
                atMost: 80
            )
            guard outcome.end.exitCode == 0 else {
                return HostCheck("git", .gap(cure: cure), "it ends with an error")
            }
            return HostCheck("git", .good, said)
        } catch {
            return HostCheck("git", .gap(cure: cure), "\(error)")
        }
    }

    private func policies() -> HostCheck {
        do throws(SupervisorError) {
            let library = try options.library()
            let check = PolicyCheck([], in: library, context: try options.context())
            guard let problem = check.problems.values.joined().first else {
                return HostCheck(
                    "policies",
                    .good,
                    "\(library.policyNames.joined(separator: ", ")) are sound"
                )
            }
            return HostCheck(
                "policies",
                .gap(cure: "run `invigilator policy check`; the first remedy: \(problem.remedy)"),
                "\(problem)"
            )
        } catch {
            return HostCheck("policies", .gap(cure: "reinstall, or name --directory"), "\(error)")
        }
    }

    // MARK: - what is done

    private func measure(_ diagnosis: inout Diagnosis) {
        guard Identity.effectiveUser == 0 else {
            diagnosis.add(
                HostCheck(
                    "sandbox",
                    .gap(cure: "run `sudo invigilator doctor`"),
                    "not tried as root"
                )
            )
            return
        }
        do throws(SupervisorError) {
            let outcome = try tried()
            diagnosis.level = outcome.level
            diagnosis.add(outcome.check)
        } catch {
            diagnosis.add(
                HostCheck("sandbox", .gap(cure: "close the gaps above, then this"), "\(error)")
            )
        }
    }

    private struct Trial {
        let level: AssuranceLevel?
        let check: HostCheck
    }

    private func tried() throws(SupervisorError) -> Trial {
        let layout = options.state.place
        let python: PythonInterpreter
        do throws(HostProbeError) {
            python = try PythonSearch.find(named: options.python, homes: ["/root"])
        } catch {
            throw SupervisorError(.hostFailed, error)
        }
        let installation = try Installation.find()
        let library = try options.library()
        let plan = try resolvedCandidate(library)
        let image = try SandboxSite.buildImage(of: python, layout)
        let site = try SandboxSite(layout: layout, installation: installation, image: image)
        let run = SandboxRun(
            site: site,
            plan: plan,
            compiled: CompiledPlan(plan),
            command: ["/usr/bin/true"]
        )
        let outcome = try run.carryOut()
        let level = site.launcher.level
        try site.close()
        guard outcome.status == 0 else {
            let cure = "run `invigilator sandbox exec --policy candidate --json -- /usr/bin/true`"
            let found = "/usr/bin/true ended with \(outcome.status) under the candidate plan"
            return Trial(level: nil, check: HostCheck("sandbox", .gap(cure: cure), found))
        }
        let found =
            "/usr/bin/true ran under the candidate plan \(CompiledPlan(plan).digest), set up in "
            + "\(Decimal.text(outcome.setupMilliseconds, decimals: 1)) ms"
        return Trial(level: level, check: HostCheck("sandbox", .good, found))
    }

    private func resolvedCandidate(_ library: PolicyLibrary) throws(SupervisorError) -> SandboxPlan
    {
        let context = try options.context()
        do throws(PolicyRefusal) {
            return try PolicyResolver(groups: library.groups, context: context)
                .resolve(library.policy(named: "candidate")).plan
        } catch {
            throw SupervisorError(.usage, error)
        }
    }
}

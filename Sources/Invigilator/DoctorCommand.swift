internal import HostKernel
internal import ArgumentParser
internal import HostProbe
internal import LauncherClient
internal import LauncherProtocol
internal import LinuxKernel
internal import PolicyEffects
internal import SandboxPlan
internal import SandboxPolicy
internal import SelfCheck
internal import StrictYAML
internal import Supervisor
internal import Workspace

/// `doctor`.
struct DoctorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Say what this host enforces, and how to close each gap.",
        discussion: """
            The assurance level and each invariant are shown by doing: sandboxes are made under the \
            policies that ship, looked at from inside, limited, frozen and killed, and the launcher is \
            sent plans that it must refuse. Every sealed exam begins with the same looks. An ordinary \
            user is told what his own launcher reaches. Exit code 3 when the level is not `full`, or \
            anything is missing.
            """
    )

    @Flag(help: "Print the findings for programs.")
    var json = false

    @OptionGroup var options: PolicyOptions

    func run() throws {
        let facts = HostFacts.probe(pythonPath: options.python, homes: ["/root"])
        var diagnosis = Diagnosis(facts: facts)
        diagnosis.add(HostChecks(facts).all)
        diagnosis.add(.landlockRecords(AuditState.probe(landlockABI: facts.landlockABI)))
        diagnosis.add(python())
        diagnosis.add(git())
        diagnosis.add(policies())
        measure(&diagnosis, facts)
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

    private func measure(_ diagnosis: inout Diagnosis, _ facts: HostFacts) {
        func unknown(_ error: SupervisorError, _ reason: String, _ cure: String) {
            diagnosis.add(HostCheck("sandbox", .gap(cure: cure), "\(error)"))
            diagnosis.invariants = Invariant.allCases.map {
                InvariantFinding(unknown: $0, because: reason, cure: cure)
            }
        }
        diagnosis.add(
            Identity.effectiveUser == 0
                ? ContainedRootChecks(.probe()).all : DelegationChecks(.probe()).all
        )
        do throws(SupervisorError) {
            try DoctorTrial(options).carryOut(&diagnosis)
        } catch {
            guard Identity.effectiveUser != 0, error.status == .hostFailed else {
                return unknown(error, "\(error)", "close the gaps above, then this")
            }
            let cure = facts.userNamespaceCure(rule: HostFacts.userNamespaceRule)
            let reason = facts.userNamespaceObstacle ?? "\(error)"
            diagnosis.measured = MeasuredLevel(
                .noUserNamespace,
                shortfall: ("an ordinary user can make no sandbox here: \(reason)", cure)
            )
            unknown(error, reason, cure)
        }
    }
}

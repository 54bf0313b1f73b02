// invigilator: the front door. Reads the command line, calls the supervisor, prints, and exits with a
// code that other programs rely on.

internal import HostKernel
internal import ArgumentParser
internal import LinuxKernel
internal import SandboxPlan
internal import Supervisor

/// The command `invigilator`.
@main
struct Invigilator: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "invigilator",
        abstract: "Lets an untrusted coding agent improve one file overnight, and keeps it honest.",
        discussion: """
            Exit codes: 0 done; 1 the candidate was refused; 2 usage, policy or configuration error; \
            3 the sandbox or the host failed, or the host enforces less than is demanded; 4 an \
            integrity violation; 5 an attack got through.
            """,
        version: "0.1.0",
        groupedSubcommands: [
            CommandGroup(
                name: "Experiment",
                subcommands: [
                    InitCommand.self, PrepareCommand.self, RunCommand.self, DemoCommand.self,
                    GateGroup.self, BenchmarkGroup.self, SuiteCommand.self,
                ]
            ),
            CommandGroup(
                name: "A running night",
                subcommands: [
                    StatusCommand.self, PauseCommand.self, ResumeCommand.self, StopCommand.self,
                    ExtendCommand.self, PruneCommand.self,
                ]
            ),
            CommandGroup(
                name: "Results and proof",
                subcommands: [
                    ReportCommand.self, FinalCommand.self, BestCommand.self, DiffCommand.self,
                    ApplyCommand.self,
                    LedgerCommand.self, AttestCommand.self, VerifyCommand.self,
                ]
            ),
            CommandGroup(
                name: "Sandboxes and policies",
                subcommands: [
                    DoctorCommand.self, RedTeamCommand.self, PolicyCommand.self,
                    SandboxCommand.self, ImageCommand.self, AgentCommand.self,
                ]
            ),
        ]
    )

    /// Runs the command line of this process and exits.
    static func main() {
        do {
            var command = try parseAsRoot()
            try command.run()
        } catch let error as SupervisorError {
            StandardError.print("invigilator: \(error)")
            CurrentProcess.exitNow(error.status.rawValue)
        } catch {
            let code = exitCode(for: error)
            // Asking for help or the version is not an error; every other refusal of the command
            // line is a usage error.
            let text = fullMessage(for: error)
            guard code != .success else {
                print(text)
                return
            }
            if !text.isEmpty { StandardError.print(text) }
            CurrentProcess.exitNow(code == .validationFailure ? 2 : code.rawValue)
        }
    }
}

/// Options that every command on an experiment has.
struct ExperimentOptions: ParsableArguments {
    @Argument(help: "The experiment's directory.")
    var directory = "."

    @OptionGroup var state: StateOptions

    func open() throws(SupervisorError) -> Experiment {
        try Experiment.found(directory, state.place)
    }
}

/// Where state is kept.
struct StateOptions: ParsableArguments {
    @Option(help: "Where ledgers, vaults and images are kept.")
    var stateDirectory = StateLayout.usualRoot

    /// Makes the path absolute, every step a name: launcher and policies compare it with the sources
    /// of mounts as text.
    mutating func validate() throws {
        do throws(SupervisorError) { stateDirectory = try absolute() } catch {
            throw ValidationError("\(error)")
        }
    }

    /// The layout, for a command that makes sandboxes or changes state; says what an ordinary user gets.
    func layout() -> StateLayout {
        if Identity.effectiveUser != 0 {
            let reach = Installation.reach
            let worth = reach == .singleUID ? ", to train and demonstrate" : ""
            StandardError.print(
                "invigilator: user \(Identity.effectiveUser) is not root: assurance \(reach.name) at "
                    + "the most\(worth); state in \(stateDirectory)"
            )
        }
        return StateLayout(root: stateDirectory)
    }
}

extension StateOptions {
    private func absolute() throws(SupervisorError) -> String {
        let start =
            stateDirectory.hasPrefix("/")
            ? ""
            : try kernel("find the working directory", ".") { () throws(SystemError) in
                try Descriptor.resolvedPath(".")
            }
        let steps = "\(start)/\(stateDirectory)".split(separator: "/").filter { $0 != "." }
        guard !steps.isEmpty, !steps.contains("..") else {
            throw SupervisorError(
                .usage,
                operation: "open the state directory",
                location: stateDirectory,
                reason: "the path is the root directory's or holds «..»",
                remedy: "write the directory's path from the root"
            )
        }
        return "/" + steps.joined(separator: "/")
    }
}

/// Standard error, for everything that is not a command's result.
enum StandardError {
    static func print(_ line: String) {
        // Nothing is left to tell anybody when standard error is closed.
        do throws(SystemError) {
            try Descriptor.copy(ofInherited: 2).writeAll(Array((line + "\n").utf8))
        } catch {}
    }
}

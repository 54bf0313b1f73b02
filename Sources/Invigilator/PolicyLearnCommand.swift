internal import ArgumentParser
internal import HostKernel
internal import LinuxKernel
internal import PolicyEffects
internal import SandboxPolicy
internal import Supervisor

/// `policy learn`.
struct PolicyLearnCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "learn",
        abstract:
            "Run a command under a policy, and print what it was refused, as changes for review.",
        usage: "invigilator policy learn --policy NAME [--json] -- PROGRAM [ARGUMENT ...]",
        discussion: """
            The sandbox is the policy's own and no weaker: what is refused stays refused. From outside \
            of it strace(1) watches, and each failed call that a line of the policy could have allowed \
            becomes a line of a proposal, with who asked and how often. Nothing is applied. What no \
            policy can allow is said to be so, and what needs a reason is marked.

            A program that is refused something often gives up: apply what you agree with, and learn \
            again. It was seen to ask; whether it ought to get it is yours to judge.

            There is no experiment, no vault and no model here. strace reads what the program passes to \
            the kernel, with the rights of whoever runs this command: do not learn on a host whose \
            experiment is running. Needs root and strace. The proposal goes to standard output \
            after the command's own; the exit code is 0 unless nothing could be run.
            """
    )

    @Option(help: "The policy's name, or the path of its document.")
    var policy: String

    @Flag(help: "Print the proposal for programs.")
    var json = false

    @OptionGroup var options: PolicyOptions

    @Argument(parsing: .postTerminator, help: "The program and its arguments.")
    var command: [String] = []

    private static let strace = "/usr/bin/strace"

    func run() throws {
        guard Identity.effectiveUser == 0 else {
            throw SupervisorError(
                .usage,
                operation: "watch a command in a sandbox",
                location: "user \(Identity.effectiveUser)",
                reason: "the kernel lets root alone watch what changes its user",
                remedy: "run the same command with `sudo`"
            )
        }
        let library = try options.library()
        let resolver = PolicyResolver(groups: library.groups, context: try options.context())
        let named = try options.policy(policy, in: library)
        let resolved: ResolvedPolicy
        do throws(PolicyRefusal) { resolved = try resolver.resolve(named) } catch {
            throw SupervisorError(.usage, error)
        }
        let failures = try watch()
        let proposal = PolicyProposal(failures, under: resolved, resolver)
        try json ? Console.write(proposal.json) : Console.write(proposal.text)
    }

    // strace writes into a pipe, so that a flood of calls takes no room. A second one gets the result of the
    // run, by which one that did not take place is told from a command that failed.
    private func watch() throws(SupervisorError) -> FailureCount {
        let run = try start()
        var failures = FailureCount()
        var rest: [UInt8] = []
        var result: [UInt8] = []
        try kernel("read what strace saw", Self.strace) { () throws(SystemError) in
            try run.lines.withDescriptor { lines throws(SystemError) in
                while true {
                    let part = try lines.read(atMost: 1 << 16)
                    if part.isEmpty { break }
                    rest += part
                    let found = rest.split(separator: 10, omittingEmptySubsequences: false)
                    for line in found.dropLast() {
                        failures.add(String(decoding: line, as: UTF8.self))
                    }
                    // A line holds the paths of one call; what is longer is no line.
                    rest = Array((found.last ?? []).prefix(1 << 16))
                }
            }
            try run.result.withDescriptor { descriptor throws(SystemError) in
                result = try descriptor.readAll(limit: 1 << 20)
            }
            _ = try ProcessEnd.wait(for: run.pid)
        }
        guard !result.isEmpty, !String(decoding: result, as: UTF8.self).contains("\"problem\":")
        else {
            throw SupervisorError(
                .hostFailed,
                operation: "watch a command in a sandbox",
                location: policy,
                reason: "the sandbox was not run; what went before says why",
                remedy: "try `invigilator sandbox exec` with the same command first"
            )
        }
        return failures
    }

    private struct Run {
        let pid: Int32
        let lines: Descriptor?.Box
        let result: Descriptor?.Box
    }

    private func start() throws(SupervisorError) -> Run {
        var words = ["sandbox", "exec", "--policy", policy, "--no-terminal"]
        words += ["--json-output", "/dev/fd/4"]
        if let directory = options.directory { words += ["--directory", directory] }
        if let python = options.python { words += ["--python", python] }
        words += options.state.words + ["--"] + command
        do throws(SystemError) {
            let program = try Descriptor.open("/proc/\(CurrentProcess.pid)", [.read, .directory])
                .linkText("exe")
            let input = try Descriptor.copy(ofInherited: 0)
            let output = try Descriptor.copy(ofInherited: 1)
            let errors = try Descriptor.copy(ofInherited: 2)
            var lines = try DescriptorPair.pipe()
            var result = try DescriptorPair.pipe()
            let linesEnd = lines.takeSecond()
            let resultEnd = result.takeSecond()
            var placements = DescriptorPlacements()
            placements.add(input)
            placements.add(output)
            placements.add(errors)
            placements.add(linesEnd)
            placements.add(resultEnd)
            let pid = try Spawn.start(
                Self.strace,
                arguments: ObservedFailure.words + ["-o", "/dev/fd/3", program] + words,
                environment: ["PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C"],
                descriptors: placements
            )
            return Run(
                pid: pid,
                lines: Descriptor?.Box(lines.takeFirst()),
                result: Descriptor?.Box(result.takeFirst())
            )
        } catch {
            throw SupervisorError(
                .hostFailed,
                operation: "watch a command in a sandbox",
                location: Self.strace,
                reason: "\(error)",
                remedy: error.isMissing ? "install it (apt-get install strace)" : "report this"
            )
        }
    }
}

import HostKernel
import Foundation
import LinuxKernel
import SandboxPlan

/// One build in a directory of its own, with the policies and templates that ship beside it.
struct InstalledBuild: Sendable {
    let root: String

    /// The coding agents of these tests.
    enum Agent {
        /// The scripted agent of the demonstration, with only these cheats as its plan.
        case cheats([String])
        /// An agent that notes when it ran while its candidate was judged.
        case watching
        /// These of the further cheats, in this order.
        case further([String])
    }

    struct Outcome {
        /// The exit code; nothing if a signal ended it.
        let status: Int32?
        let output: String
        let errors: String
    }

    static let profile = "cheats"

    /// Copies the programs of a build and what ships with them; the launcher may be another build's.
    init(
        _ programs: String,
        in scratch: Scratch,
        named name: String,
        launcherFrom: String? = nil
    ) throws {
        root = "\(scratch.path)/\(name)"
        let files = FileManager.default
        try files.createDirectory(atPath: root + "/bin", withIntermediateDirectories: true)
        for (program, source) in [
            ("invigilator", programs), ("invigilator-launcher", launcherFrom ?? programs),
            ("invigilator-probe", programs), ("invigilator-selfcheck", programs),
            ("invigilator-broker", Builds.shipped),
        ] {
            try files.copyItem(atPath: "\(source)/\(program)", toPath: "\(root)/bin/\(program)")
        }
        for name in ["policies", "templates"] {
            try files.copyItem(
                atPath: "\(Builds.repository)/\(name)",
                toPath: "\(root)/\(name)"
            )
        }
        try files.copyItem(
            atPath: Builds.fixtures + "/sums.yaml",
            toPath: root + "/templates/experiments/sums.yaml"
        )
        let agents = root + "/templates/coding-agents"
        try files.copyItem(atPath: agents + "/scripted", toPath: "\(agents)/\(Self.profile)")
        for name in ["watching_agent.py", "further_cheats.py", "further_candidates.py"] {
            try files.copyItem(
                atPath: "\(Builds.fixtures)/\(name)",
                toPath: "\(agents)/\(Self.profile)/\(name)"
            )
        }
    }

    /// Writes the profile that starts an agent.
    func install(_ agent: Agent) throws {
        let program = "/work/.coding-agent/"
        let words =
            switch agent {
            case .cheats(let names): [program + "agent_loop.py"] + names.map { "\"cheat \($0)\"" }
            case .watching: [program + "watching_agent.py"]
            case .further(let names): [program + "further_cheats.py"] + names
            }
        let text = try String(contentsOfFile: Builds.fixtures + "/profile.yaml", encoding: .utf8)
            .replacingOccurrences(of: "{{name}}", with: Self.profile)
            .replacingOccurrences(of: "{{steps}}", with: words.joined(separator: ", "))
        let file = "\(root)/templates/coding-agents/\(Self.profile)/profile.yaml"
        try text.write(toFile: file, atomically: true, encoding: .utf8)
    }

    /// Runs the program in a mount namespace of its own, in which the host's `/usr` is read-only:
    /// whatever a sandbox without a layer does, it does it as an unprivileged user to nothing.
    func run(_ arguments: [String], omitting layers: [Layer] = []) throws -> Outcome {
        let prepare = """
            mount --bind /usr /usr && mount -o remount,bind,ro /usr && exec "$@"
            """
        let outcome = try Spawn.run(
            "/usr/bin/timeout",
            arguments: [
                "--kill-after=10", "120", "/usr/bin/unshare", "--mount", "--propagation",
                "private", "--", "/bin/sh", "-c", prepare, "sh", root + "/bin/invigilator",
            ] + arguments,
            environment: [
                "PATH=/usr/sbin:/usr/bin:/sbin:/bin",
                "INVIGILATOR_TEST_OMIT=" + layers.map(\.rawValue).joined(separator: ","),
            ]
        )
        return Outcome(
            status: outcome.end.exitCode,
            output: String(decoding: outcome.output, as: UTF8.self),
            errors: String(decoding: outcome.errors, as: UTF8.self)
        )
    }
}

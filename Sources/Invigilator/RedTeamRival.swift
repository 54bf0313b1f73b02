// The attacks of the coding sandbox in a bubblewrap call as agents' documentation has it: everything
// unshared, the system's programs read-only, no capability, a session of its own. Started as the
// supervisor's user, after root was given up: without a filter and limits around them the attacks have the
// rights of nobody.

internal import HostKernel
internal import LinuxKernel
internal import RedTeam
internal import Supervisor

/// Another sandbox that the attacks can be made in.
enum RedTeamRival: String, CaseIterable {
    case bwrap

    private static let program = "/usr/bin/bwrap"

    /// How it names itself; a usage error where it is not installed.
    func version() throws(SupervisorError) -> String {
        do throws(SystemError) {
            let outcome = try Spawn.run(Self.program, arguments: ["--version"])
            let said = String(decoding: outcome.output.prefix { $0 != 10 }, as: UTF8.self)
            return SafeText.cleaned(said, atMost: 60)
        } catch {
            throw SupervisorError(
                .usage,
                operation: "compare with \(rawValue)",
                location: Self.program,
                reason: "\(error)",
                remedy: "install it (apt-get install bubblewrap), or leave --against out"
            )
        }
    }

    /// The call, up to the program that it starts.
    static func command(probe: String) -> [String] {
        [
            program, "--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL",
            "--ro-bind", "/usr", "/usr", "--symlink", "usr/bin", "/bin", "--symlink", "usr/lib",
            "/lib", "--symlink", "usr/lib64", "/lib64", "--proc", "/proc", "--dev", "/dev",
            "--tmpfs", "/tmp", "--dir", "/work", "--ro-bind", probe,
            "/work/\(RedTeamRoom.probeName)", "--ro-bind", probe, "/work/\(RedTeamRoom.honestName)",
            "--remount-ro", "/", "--uid", "1000", "--gid", "1000", "--clearenv", "--chdir", "/tmp",
            "--",
        ]
    }

    /// What attacks meet with in it.
    func answers(
        _ words: [String],
        probe: String,
        settings: [String: String]
    ) throws(SupervisorError) -> [String: Answer] {
        let told = settings.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        let start = ["/work/\(RedTeamRoom.probeName)", "run", "--without-filter"]
        let call = Self.command(probe: probe) + start + told + words
        let outcome = try kernel("attack another sandbox", rawValue) { () throws(SystemError) in
            try Spawn.run(call[0], arguments: Array(call.dropFirst()), limit: 8 << 20)
        }
        let output = ProbeOutput(outcome.output)
        guard output.isComplete else {
            throw SupervisorError(
                .hostFailed,
                operation: "attack another sandbox",
                location: rawValue,
                reason: SafeText.cleaned(
                    String(decoding: outcome.errors.suffix(300), as: UTF8.self),
                    atMost: 300
                ),
                remedy: "run `\(Self.program) --unshare-all --ro-bind / / true` as another user"
            )
        }
        return output.answers
    }
}

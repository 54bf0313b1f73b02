// The attacks of the coding sandbox in other programs' sandboxes, each called as its documentation has
// it for programs that nobody trusts: everything unshared, a read-only view, no capability.
//
// Order, as root and before any sandbox of ours: a mount namespace for this one run; in it, under /home,
// the programs that attack; then the supervisor's user, and with it the call. What the other program
// needs besides (a line in the users' list, a bundle) is made there too, and ends with the namespace.

internal import HostKernel
internal import LinuxKernel
internal import RedTeam
internal import StrictJSON
internal import Supervisor

/// Another sandbox that the attacks can be made in.
enum RedTeamRival: String, CaseIterable {
    case bwrap, firejail, crun

    private static let home = "/home/invigilator"
    private static let room = home + "/work"
    private static let startName = "start"

    /// The program's path.
    private var program: String { "/usr/bin/\(rawValue)" }

    /// The package of Debian that has it.
    private var package: String { self == .bwrap ? "bubblewrap" : rawValue }

    /// The directory with the attacks, as the sandbox shows it.
    private var view: String { self == .firejail ? Self.home : "/work" }

    /// How it names itself; a usage error where it is not installed.
    func version() throws(SupervisorError) -> String {
        do throws(SystemError) {
            let outcome = try Spawn.run(program, arguments: ["--version"])
            let said = String(decoding: outcome.output.prefix { $0 != 10 }, as: UTF8.self)
            return SafeText.cleaned(said, atMost: 60)
        } catch {
            throw SupervisorError(
                .usage,
                operation: "compare with \(rawValue)",
                location: program,
                reason: "\(error)",
                remedy: "install it (apt-get install \(package)), or leave --against out"
            )
        }
    }

    // MARK: - the calls

    /// The call, with the program that it starts where the call names one.
    ///
    /// - Parameter state: the state directory, for a program that shows what it is not told to hide.
    /// - Returns: the words of the call.
    func command(hiding state: String) -> [String] {
        let start = ["/bin/sh", "\(view)/\(Self.startName)"]
        return switch self {
        case .bwrap:
            [
                program, "--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL",
                "--ro-bind", "/usr", "/usr", "--symlink", "usr/bin", "/bin", "--symlink", "usr/lib",
                "/lib", "--symlink", "usr/lib64", "/lib64", "--proc", "/proc", "--dev", "/dev",
                "--tmpfs", "/tmp", "--ro-bind", Self.room, view, "--remount-ro", "/",
                "--uid", "1000", "--gid", "1000", "--clearenv", "--chdir", "/tmp", "--",
            ] + start
        case .firejail:
            [
                program, "--quiet", "--net=none", "--ipc-namespace", "--caps.drop=all", "--seccomp",
                "--nonewprivs", "--noroot", "--nogroups", "--private=\(Self.room)",
                "--read-only=\(Self.home)", "--private-dev", "--private-tmp", "--private-cache",
                "--disable-mnt", "--dbus-user=none", "--dbus-system=none", "--blacklist=\(state)",
                "--blacklist=\(StateLayout.shippedRoot)", "--deterministic-exit-code",
                "--deterministic-shutdown", "--", "/usr/bin/env", "-i",
            ] + start
        case .crun:
            [
                program, "--root", "\(Self.home)/containers", "--cgroup-manager=disabled", "run",
                "--bundle", Self.home, "invigilator",
            ]
        }
    }

    /// What is shown to the attacks, in a sentence.
    var shown: String {
        switch self {
        case .bwrap: "/usr and the attacks, read-only; an empty /tmp"
        case .firejail:
            "what its default profile leaves of the host; a home with the attacks, read-only; an empty /tmp"
        case .crun:
            "a bundle by `crun spec --rootless` without control groups, and with /usr and the attacks, "
                + "read-only; an empty /tmp"
        }
    }

    // What a call needs in the namespace, before root is given up.
    private var preparation: String {
        switch self {
        case .bwrap: ""
        case .firejail:
            // It serves only users of the list.
            """
            { cat /etc/passwd; echo "invigilator:x:$user:$user::$home:/bin/sh"; } > /home/passwd
            mount --bind /home/passwd /etc/passwd
            """
        case .crun:
            // It refuses a host with control groups of both versions, even where it is to use none.
            """
            mount -t cgroup2 cgroup2 /sys/fs/cgroup
            mkdir -p "$home"/rootfs/usr "$home"/rootfs/tmp "$home"/rootfs/work "$home"/rootfs/proc
            mkdir "$home"/rootfs/dev "$home"/rootfs/sys
            for name in bin lib lib64; do ln -s "usr/$name" "$home/rootfs/$name"; done
            printf %s "$4" > "$home/config.json"
            """
        }
    }

    // A program that is setuid cannot run where rights are given up for good.
    private var rights: [String] {
        let user = ["--reuid=\(StateLayout.supervisor)", "--regid=\(StateLayout.supervisor)"]
        return user + ["--clear-groups"]
            + (self == .firejail
                ? [] : ["--no-new-privs", "--bounding-set=-all", "--inh-caps=-all"])
    }

    // MARK: - running

    /// What attacks meet with in it.
    ///
    /// - Throws: ``SupervisorError``, also where a program that does nothing wrong does not work in it:
    ///   then an attack that fails there would say nothing.
    func answers(
        _ words: [String],
        probe: String,
        settings: [String: String]
    ) throws(SupervisorError) -> [String: Answer] {
        let state = settings["state-dir"] ?? StateLayout.shippedRoot
        let call = Call(probe: probe, command: command(hiding: state), bundle: try bundle())
        let python = ["/usr/bin/python3", "-I", "-S", "-B", "\(view)/\(RedTeamRoom.honestName)"]
        let honest = try run(python, by: call)
        guard String(decoding: honest.output, as: UTF8.self) == HonestProgram.good else {
            throw failure("run a program that does nothing wrong", honest)
        }
        var own = settings
        own["view-dir"] = view
        own["program"] = "\(view)/\(RedTeamRoom.probeName)"
        own["given"] = "\(view)/\(RedTeamRoom.honestName)"
        let told = own.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        let start = ["\(view)/\(RedTeamRoom.probeName)", "run", "--without-filter"]
        let outcome = try run(start + told + words, by: call)
        let output = ProbeOutput(outcome.output)
        guard output.isComplete else { throw failure("attack another sandbox", outcome) }
        return output.answers
    }

    private struct Call {
        let probe: String
        let command: [String]
        let bundle: String
    }

    private func run(
        _ words: [String],
        by call: Call
    ) throws(SupervisorError) -> Spawn.Outcome {
        let quoted = words.map { word in
            "'"
                + word.split(separator: "'", omittingEmptySubsequences: false)
                .joined(separator: "'\\''") + "'"
        }
        let start = "exec " + quoted.joined(separator: " ") + "\n"
        return try inNamespace(
            script,
            [call.probe, HonestProgram.text, start, call.bundle] + call.command
        )
    }

    private func inNamespace(
        _ script: String,
        _ words: [String]
    ) throws(SupervisorError) -> Spawn.Outcome {
        try kernel("call \(rawValue)", "/usr/bin/unshare") { () throws(SystemError) in
            try Spawn.run(
                "/usr/bin/unshare",
                arguments: [
                    "--mount", "--propagation", "private", "/bin/sh", "-c", script, rawValue,
                ] + words,
                environment: ["PATH=/usr/sbin:/usr/bin:/sbin:/bin"],
                limit: 8 << 20
            )
        }
    }

    // Its arguments: the attacks' program, the honest one, what is started, the bundle, the call.
    private var script: String {
        """
        set -eu
        user=\(StateLayout.supervisor)
        home=\(Self.home)
        mount -t tmpfs -o mode=0755 tmpfs /home
        mkdir -p "\(Self.room)"
        cp -- "$1" "\(Self.room)/\(RedTeamRoom.probeName)"
        printf %s "$2" > "\(Self.room)/\(RedTeamRoom.honestName)"
        printf %s "$3" > "\(Self.room)/\(Self.startName)"
        chmod 0755 "\(Self.room)/\(RedTeamRoom.probeName)"
        \(preparation)
        chown -R "$user:$user" "$home"
        shift 4
        cd /tmp
        exec setpriv \(rights.joined(separator: " ")) -- "$@"
        """
    }

    // MARK: - the bundle of an OCI runtime

    // What the program itself writes as a start, changed in what it shows and what it starts.
    private func bundle() throws(SupervisorError) -> String {
        guard self == .crun else { return "" }
        let outcome = try inNamespace(
            "mount -t tmpfs tmpfs /home && cd /home && \"$1\" spec --rootless && cat config.json",
            [program]
        )
        do throws(JSONError) {
            let spec = try JSONValue(parsing: outcome.output, limits: .document)
            return changed(spec).prettyText()
        } catch {
            throw failure("read what `\(program) spec` writes", outcome)
        }
    }

    private func changed(_ spec: JSONValue) -> JSONValue {
        var all = spec.objectValue ?? [:]
        var process = all["process"]?.objectValue ?? [:]
        process["terminal"] = false
        process["args"] = ["/bin/sh", .string("\(view)/\(Self.startName)")]
        process["cwd"] = "/tmp"
        all["process"] = .object(process)
        var linux = all["linux"]?.objectValue ?? [:]
        linux["resources"] = nil
        all["linux"] = .object(linux)
        let kept = (all["mounts"]?.arrayValue ?? []).filter {
            $0["destination"] != "/sys/fs/cgroup"
        }
        let added: [JSONValue] = [
            Self.bound("/usr", at: "/usr"), Self.bound(Self.room, at: view),
            [
                "destination": "/tmp", "type": "tmpfs", "source": "tmpfs",
                "options": ["nosuid", "nodev", "mode=1777"],
            ],
        ]
        all["mounts"] = .array(kept + added)
        return .object(all)
    }

    private static func bound(_ source: String, at target: String) -> JSONValue {
        [
            "destination": .string(target), "type": "bind", "source": .string(source),
            "options": ["rbind", "ro", "nosuid", "nodev"],
        ]
    }

    private func failure(_ operation: String, _ outcome: Spawn.Outcome) -> SupervisorError {
        let said = outcome.errors.isEmpty ? outcome.output : outcome.errors
        let words = SafeText.cleaned(
            String(decoding: said.suffix(300), as: UTF8.self),
            atMost: 300
        )
        let trial =
            switch self {
            case .bwrap: "\(program) --unshare-all --ro-bind / / true"
            case .firejail: "\(program) --net=none --noroot true"
            case .crun: "\(program) --cgroup-manager=disabled run"
            }
        return SupervisorError(
            .hostFailed,
            operation: operation,
            location: rawValue,
            reason: words.isEmpty ? "it ended with \(outcome.end) and said nothing" : words,
            remedy: "try `\(trial)` as an ordinary user; it needs /usr/bin/python3 inside"
        )
    }
}

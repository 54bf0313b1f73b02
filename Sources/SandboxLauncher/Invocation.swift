internal import LauncherProtocol
internal import LinuxKernel
internal import SandboxPlan

/// What the command line asks for.
enum Invocation {
    case run(OneShot, Options)
    case serve(Options)
    case sweep
    case help
    case version

    /// Facts that only whoever starts the launcher may give it.
    struct Options {
        var protected: [String] = []
        var vault: String?
        var supervisor: UInt32 = 0x7000_0000
    }

    static let usage = """
        invigilator-launcher: builds one sandbox from one compiled plan. Needs root.

        usage: invigilator-launcher run PLAN [--tree DIR]... [--protect DIR]... [-- COMMAND [ARGUMENT]...]
               invigilator-launcher serve --channel 3 --supervisor UID [--protect DIR]... [--vault DIR]
               invigilator-launcher sweep
               invigilator-launcher --help | --version

        run     runs a command under a plan made by `invigilator policy compile`
        serve   serves a supervisor over the socket on descriptor 3 (used by `invigilator`)
        sweep   removes control groups that a killed launcher left behind

        exit codes: the command's own; 128 + n when signal n ended it; 137 when a limit did;
                    2 for a wrong command line; 3 when the sandbox could not be made
        """

    /// Carries out the command line of this process.
    static func main() -> Never {
        CurrentProcess.ignorePipeSignal()
        guard let invocation = parse(CurrentProcess.arguments) else {
            printError(usage)
            CurrentProcess.exitNow(2)
        }
        do throws(LaunchFailure) {
            CurrentProcess.exitNow(try invocation.perform())
        } catch {
            printError("invigilator-launcher: \(error)")
            CurrentProcess.exitNow(OneShot.hostFailed)
        }
    }

    private func perform() throws(LaunchFailure) -> Int32 {
        switch self {
        case .help:
            print(Self.usage)
            return 0
        case .version:
            print("invigilator-launcher 0.1.0\(LayerSwitches.exist ? " (test-only)" : "")")
            return 0
        case .run(let oneShot, let options):
            return try oneShot.run { () throws(LaunchFailure) in
                try site(options, leavesMounts: false)
            }
        case .serve(let options):
            let site = try site(options, leavesMounts: true)
            return try attempt(.check, "service") { () throws(SystemError) in
                try ControlGroup.sweep(site.hierarchies)
                let channel = Held(try Descriptor.copy(ofInherited: 3))
                try ResidentLauncher(channel: channel, site: site).serve()
                return 0
            }
        case .sweep:
            try Self.requireRoot()
            try attempt(.group, "sweep") { () throws(SystemError) in
                try ControlGroup.sweep(ControlGroupHierarchies.detect())
            }
            return 0
        }
    }

    private static func requireRoot() throws(LaunchFailure) {
        guard Identity.effectiveUser == 0 else {
            throw refusal(
                "user \(Identity.effectiveUser)",
                "the launcher makes sandboxes as root only",
                "start it as root; it is never installed set-user-id"
            )
        }
    }

    // A launcher that stays leaves the host's mount namespace, so that what the host mounts later does
    // not reach its sandboxes. Trees are attached in its own namespace, everything else in a sandbox's.
    private func site(
        _ options: Options,
        leavesMounts: Bool
    ) throws(LaunchFailure) -> LaunchSite {
        try Self.requireRoot()
        return try attempt(.check, "launch site") { () throws(SystemError) in
            CurrentProcess.setMask(0)  // each mode that is asked for is meant
            if leavesMounts {
                // A sandbox takes some twenty descriptors here, and the usual limit is for fifty of them.
                try ProcessLimit.openFiles.set(.max)
                try CurrentProcess.unshare([.mount])
                try MountNamespace.makePrivate()
                let flags: MountFlags = [.noSetUID, .noDevices, .noExecution]
                let yard = try MountTree.make("tmpfs", [("mode", "0700")], flags)
                try yard.attach(on: .openWithoutLinks(ResidentLauncher.yard, [.path]))
            }
            let protected = try ProtectedDirectories(
                directories: options.protected,
                vault: options.vault
            )
            let site = try LaunchSite(
                loop: EventLoop(),
                protected: protected,
                supervisor: options.supervisor
            )
            try Identity.confine(keeping: LauncherCapability.all, emptiesBounding: false)
            return site
        }
    }

    // MARK: - command line

    private static func parse(_ arguments: [String]) -> Invocation? {
        var rest = arguments[...]
        guard let verb = rest.popFirst() else { return nil }
        switch verb {
        case "--help", "-h", "help": return .help
        case "--version": return .version
        case "sweep": return rest.isEmpty ? .sweep : nil
        case "run":
            guard let plan = rest.popFirst(), !plan.hasPrefix("--") else { return nil }
            var trees: [String] = []
            let options = options(&rest, known: ["--tree", "--protect"], &trees)
            return options.map { found in
                .run(OneShot(planPath: plan, treePaths: trees, command: Array(rest)), found)
            }
        case "serve":
            var trees: [String] = []
            let known = ["--channel", "--supervisor", "--protect", "--vault"]
            let options = options(&rest, known: known, &trees)
            return rest.isEmpty ? options.map { .serve($0) } : nil
        default: return nil
        }
    }

    // Options with their values, up to the end or a `--`, of which the rest is the command.
    private static func options(
        _ rest: inout ArraySlice<String>,
        known: [String],
        _ trees: inout [String]
    ) -> Options? {
        var options = Options()
        while let word = rest.popFirst(), word != "--" {
            guard known.contains(word), let value = rest.popFirst() else { return nil }
            switch word {
            case "--tree": trees.append(value)
            case "--protect": options.protected.append(value)
            case "--vault": options.vault = value
            case "--supervisor":
                guard let uid = UInt32(value), uid > 0 else { return nil }
                options.supervisor = uid
            default: guard value == "3" else { return nil }
            }
        }
        return options
    }
}

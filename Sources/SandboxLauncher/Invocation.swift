internal import LauncherProtocol
internal import LauncherText
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

    /// Carries out the command line of this process.
    static func main() -> Never {
        CurrentProcess.ignorePipeSignal()
        guard let invocation = parse(CurrentProcess.arguments) else {
            printError(LauncherText.usage)
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
            printError(LauncherText.usage, to: 1)
            return 0
        case .version:
            let build = LayerSwitches.exist ? " (test-only)" : ""
            printError("invigilator-launcher 0.1.0\(build)", to: 1)
            return 0
        case .run(let oneShot, let options):
            return try oneShot.run { () throws(LaunchFailure) in
                try site(options, leavesMounts: false)
            }
        case .serve(let options):
            let site = try site(options, leavesMounts: true)
            return try attempt(.check, "service") { () throws(SystemError) in
                if let hierarchies = site.hierarchies { try ControlGroup.sweep(hierarchies) }
                let channel = Held(try Descriptor.copy(ofInherited: 3))
                try ResidentLauncher(channel: channel, site: site).serve()
                return 0
            }
        case .sweep:
            try attempt(.group, "sweep") { () throws(SystemError) in
                try ControlGroup.sweep(ControlGroupHierarchies.detect())
            }
            return 0
        }
    }

    // A launcher that stays leaves the host's mount namespace, so that what the host mounts later does
    // not reach its sandboxes. Trees are attached in its own namespace, everything else in a sandbox's.
    private func site(
        _ options: Options,
        leavesMounts: Bool
    ) throws(LaunchFailure) -> LaunchSite {
        if Identity.effectiveUser != 0 {
            try attempt(.check, "an ordinary user's namespaces", Identity.enterOwnNamespaces)
        }
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

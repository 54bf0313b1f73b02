internal import FilterLint
internal import SandboxPlan
internal import SeccompCompiler

/// Names of what is told.
enum DeniedCall {
    /// The kind of a call for which the sandbox's limit of objects left no room; as init writes it.
    static let ofLimit = UInt32.max - 1

    /// What the kinds beyond the eighth of one call are counted as.
    private static let others = UInt32.max

    private static let names: [UInt32: String] = {
        var names: [UInt32: String] = [:]
        let counted = CountedCalls.all.map(\.name)
        for name in ToldCalls.whole + counted + ["clone", "ioctl"] {
            // Each name of the list was compiled into a filter.
            do throws(SeccompError) { names[try SyscallNumbers.number(of: name)] = name } catch {}
        }
        return names
    }()

    static func name(of number: UInt32) -> String { names[number] ?? "call \(number)" }

    /// What a call would have done, as far as its first argument says.
    static func kind(of argument: UInt32, call: String) -> String {
        if argument == ofLimit { return "more than limits.objects" }
        return switch call {
        case "socket":
            ToldCalls.families.first { $0.number == argument }?.name ?? other(argument)
        case "clone", "unshare": namespaces(argument)
        case "ptrace": requests[argument] ?? other(argument)
        case "bpf", "keyctl": argument < 64 ? "operation \(argument)" : other(argument)
        case "ioctl": "typing into a terminal"
        default: ""
        }
    }

    private static func other(_ argument: UInt32) -> String {
        argument == others ? "several others" : "another"
    }

    private static func namespaces(_ flags: UInt32) -> String {
        if flags == others { return "several others" }
        let named = ToldCalls.namespaces.filter { flags & $0.flag != 0 }.map(\.name)
        return named.isEmpty ? "another" : "new namespaces: \(named.joined(separator: ", "))"
    }

    // ptrace(2), by the numbers of linux/ptrace.h.
    private static let requests: [UInt32: String] = [
        0: "TRACEME", 1: "PEEKTEXT", 2: "PEEKDATA", 4: "POKETEXT", 5: "POKEDATA", 16: "ATTACH",
        0x4206: "SEIZE",
    ]

    /// The family of this name that a policy can list; netlink is listed for its routing protocol.
    static func policyFamily(_ kind: String) -> SocketFamily? {
        kind == "netlink" ? .netlinkRoute : SocketFamily(rawValue: kind)
    }
}

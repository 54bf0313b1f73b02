internal import SandboxPlan
internal import SeccompCompiler
internal import StrictYAML

/// What is wrong with a policy, in words: why, and what its author can do.
///
/// Nothing is decided here; whoever finds a fault stands where the decision is.
struct PolicyFault {
    let reason: String
    let remedy: String

    init(_ reason: String, _ remedy: String) {
        self.reason = reason
        self.remedy = remedy
    }
}

extension ProblemList {
    /// Adds a fault at a place.
    func add(_ place: DocumentPlace, _ fault: PolicyFault) {
        add(place, fault.reason, remedy: fault.remedy)
    }
}

extension YAMLNode {
    /// Tells a fault of this node.
    func refuse(_ fault: PolicyFault) {
        refuse(fault.reason, remedy: fault.remedy)
    }
}

extension PolicyFault {
    static let rootUnclear = PolicyFault(
        "exactly one of tree and skeleton is needed",
        "write {tree: true}, or skeleton with directories, links and files"
    )
    static let sourceUnclear = PolicyFault(
        "exactly one of source, tree, tmpfs and vault is needed",
        "say what is mounted, once"
    )
    static func executesOwn(_ role: SandboxRole) -> PolicyFault {
        PolicyFault(
            "a \(role) may not execute what it wrote",
            "remove exec: true"
        )
    }

    static func unknownVariable(_ text: String, _ names: String) -> PolicyFault {
        PolicyFault(
            "\(text) has an unknown variable",
            "the variables are \(names); the vault is mounted by vault: split"
        )
    }

    static let noVault = PolicyFault(
        "no vault was named",
        "resolve this policy for an experiment"
    )
    static let nothingKept = PolicyFault(
        "only a coding sandbox has files that are kept",
        "remove the key"
    )
    static let logBeforeABI7 = PolicyFault(
        "kernels before Landlock ABI 7 make no record of what a program is refused",
        "write minimum-abi: 7, or remove log"
    )
    static func noAgentFile(_ text: String) -> PolicyFault {
        PolicyFault(
            "\(text) is no file below agent/",
            "write agent/NAME of letters, digits, ., _ and -, with one * at most in its end"
        )
    }

    static func listedTwice(_ path: InsidePath) -> PolicyFault {
        PolicyFault(
            "\(path) is listed twice",
            "remove one of the entries"
        )
    }

    static func beneathNoDirectory(_ path: String, _ parent: String) -> PolicyFault {
        PolicyFault(
            "\(path) lies beneath \(parent), which is no directory",
            "remove one of the two"
        )
    }

    static func sourceNotNormal(_ path: String) -> PolicyFault {
        PolicyFault(
            "the source \(path) is not absolute and normalised",
            "write it as /name/name, without . and .."
        )
    }

    static let splitOutside = PolicyFault(
        "the vault's split is not beneath the state directory",
        "report this: the program chose it, not the policy"
    )
    static func showsState(_ path: String, _ state: String) -> PolicyFault {
        PolicyFault(
            "the source \(path) would show the state directory \(state)",
            "mount something else; what a payload needs is copied into a tree"
        )
    }

    static func showsForbidden(_ path: String, _ place: String, _ why: String) -> PolicyFault {
        PolicyFault(
            "the source \(path) would show \(place): \(why)",
            "name the files that are needed, outside of it"
        )
    }

    static func sourceMissing(_ path: String) -> PolicyFault {
        PolicyFault(
            "\(path) does not exist or cannot be read",
            "create it, correct the path, or add optional: true"
        )
    }

    static func sourceIsLink(_ link: String, _ path: String) -> PolicyFault {
        PolicyFault(
            "\(link) is a symbolic link",
            "name what it points to; `realpath \(path)` prints it"
        )
    }

    static func sourceOpenToAll(_ path: String) -> PolicyFault {
        PolicyFault(
            "\(path) is writable by everyone",
            "`chmod o-w \(path)`, or mount something else"
        )
    }

    static func sourceOfOtherKind(_ path: String) -> PolicyFault {
        PolicyFault(
            "\(path) is neither a directory nor a regular file",
            "mount a directory or a file"
        )
    }

    static let noCondition = PolicyFault(
        "there is no condition",
        "write the plain name instead"
    )
    static func socketCall(_ call: String) -> PolicyFault {
        PolicyFault(
            "\(call) is governed by the key sockets",
            "remove it and list the families under sockets"
        )
    }

    static let noValue = PolicyFault(
        "no value is permitted",
        "list the permitted values"
    )
    static func noName(_ name: String) -> PolicyFault {
        PolicyFault(
            "\(name) is no name",
            "use 1 to 64 of a-z, 0-9 and -"
        )
    }

    static func noGroup(_ name: String, _ known: String) -> PolicyFault {
        PolicyFault(
            "there is no group \(name)",
            "the groups are \(known)"
        )
    }

    static func notAllowed(_ name: String) -> PolicyFault {
        PolicyFault(
            "no listed group allows \(name)",
            "remove the name: it is refused already"
        )
    }

    static let longReason = PolicyFault(
        "the reason is longer than \(Justifications.longest) bytes",
        "say it shorter"
    )
    static func unjustified(_ allowance: DangerousAllowance) -> PolicyFault {
        PolicyFault(
            "\(allowance.danger), and there is no reason for it",
            "remove it, or write because: {\(allowance.name): why this sandbox needs it}"
        )
    }

    static func justifiesNothing(_ name: String) -> PolicyFault {
        PolicyFault(
            "this policy allows nothing by the name of \(name) that needs a reason",
            "remove the reason, or correct its name; `invigilator policy explain` lists the names"
        )
    }

    static func beyondSite(
        _ excess: String,
        _ place: DocumentPlace,
        _ document: SiteDocument
    ) -> PolicyFault {
        PolicyFault(
            "\(excess) is beyond what this site allows: \(document.reason) "
                + "(\(document.file):\(place.line): \(place.key))",
            "stay within it, or ask who administers this host to change that document"
        )
    }

    static let programNotListed = PolicyFault(
        "\(Surface.program), which the candidate starts, is not listed",
        "list it"
    )
    static let surfaceTooLong = PolicyFault(
        "a file is listed twice, or more than 32 are",
        "list each once; a * in the last component stands for many"
    )
    static let patternInPlace = PolicyFault(
        "in place, only files are shown that are there when the agent starts; a * names others",
        "list the files by name, or use save: replace"
    )
}

extension ProblemList {
    /// What the launcher would refuse, with the line of the policy that it is about.
    func add(_ error: PlanError, of policy: SandboxPolicy) {
        let key = error.location.prefix { $0 != "," && $0 != "." }
        let mount = policy.mounts.first { error.location.hasSuffix(" \($0.target)") }
        let place = mount?.place ?? policy.place(of: key == "filter" ? "syscalls" : String(key))
        add(place, "\(error.location): \(error.reason)", remedy: error.remedy)
    }

    /// What cannot be resolved of one place.
    func add(_ error: PlanError, at place: DocumentPlace) {
        add(place, error.reason, remedy: error.remedy)
    }

    /// A list of calls that no filter can be made of.
    func add(_ error: SeccompError, of policy: SandboxPolicy) {
        add(policy.place(of: "syscalls"), "\(error)", remedy: "correct the groups")
    }
}

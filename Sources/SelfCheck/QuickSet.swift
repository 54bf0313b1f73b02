// The quick set: the program is started under given plans by a given launcher.
//
// Order: the first sandbox says its facts, is frozen, thawed, frozen again and killed; the others are
// started after it, so that they show that a launch works after a group was killed, and say theirs.

internal import HostKernel
public import LauncherClient
internal import LauncherProtocol
public import LinuxKernel
public import SandboxPlan

/// What the quick set is given while its caller is still root.
public struct QuickSetKit: Sendable {
    let program: [UInt8]
    let hidden: [String]
    let namespaces: [String: UInt64]

    /// The program's name, beside the launcher.
    public static let programName = "invigilator-selfcheck"
    private static let kinds = ["user", "mnt", "pid", "net", "ipc", "uts", "cgroup"]

    /// Reads the program and the numbers of our own namespaces.
    ///
    /// - Parameters:
    ///   - launcher: the launcher's program, beside which ours lies.
    ///   - hidden: directories that no sandbox may see.
    /// - Throws: `SystemError`.
    public init(besideLauncher launcher: String, hidden: [String]) throws(SystemError) {
        let folder = launcher.split(separator: "/").dropLast().map { "/\($0)" }.joined()
        program = try Descriptor.open("\(folder)/\(Self.programName)", .read)
            .readAll(limit: 16 << 20)
        self.hidden = hidden
        let own = try Descriptor.open(
            "/proc/\(CurrentProcess.pid)/ns",
            [.path, .directory]
        )
        var namespaces: [String: UInt64] = [:]
        for kind in Self.kinds {
            // As in "net:[4026531840]" (namespaces(7)).
            let number = try own.linkText(kind).drop { $0 != "[" }.dropFirst().dropLast()
            namespaces[kind] = UInt64(number)
        }
        self.namespaces = namespaces
    }
}

/// Runs the quick set through one launcher.
public final class QuickSet {
    let kit: QuickSetKit
    let launcher: LauncherClient
    private var started: [CheckedSandbox] = []
    private var trees: [SandboxTree] = []
    private var shown: (plan: CompiledPlan, trees: [SandboxTree])?
    private(set) var isLost = false

    // A loaded host starts a program late; what has not answered by then is not known to be safe.
    private static let patience = Nanoseconds.milliseconds(10_000)

    /// Whether the launcher makes control groups, and so can freeze, whatever else it lacks.
    public var canFreeze: Bool { launcher.reach >= .delegated }
    // In this time a program that is not frozen answers a thousand times over.
    private static let stillness = Nanoseconds.milliseconds(10)

    /// Prepares a set of probes.
    ///
    /// - Parameters:
    ///   - kit: what was read as root.
    ///   - launcher: the launcher that the exam will use.
    public init(_ kit: QuickSetKit, launcher: LauncherClient) {
        self.kit = kit
        self.launcher = launcher
    }

    /// Performs every probe under every plan; freezing and killing under the first.
    ///
    /// The loop is served meanwhile. When this returns or throws, nothing of the set is left.
    ///
    /// - Parameter plans: the plans of an exam, the coding sandbox's first.
    /// - Returns: the findings, in the order of plans and probes.
    /// - Throws: `LauncherError`, where a sandbox could not be made.
    public func findings(under plans: [CompiledPlan]) throws(LauncherError) -> [QuickFinding] {
        let onLost = launcher.onLost
        launcher.onLost = { [unowned self] in
            isLost = true
            onLost()
        }
        defer { launcher.onLost = onLost }
        return try leavingNothing { () throws(LauncherError) in try probe(plans) }
    }

    /// Calls a body, and ends every sandbox that it started and did not end itself.
    func leavingNothing<Answer>(
        _ body: () throws(LauncherError) -> Answer
    ) throws(LauncherError) -> Answer {
        let answer = Result { () throws(LauncherError) in try body() }
        if !isLost {
            for sandbox in started where sandbox.exit == nil { try sandbox.kill() }
            try wait { started.allSatisfy { $0.exit != nil } }
            for tree in trees { try launcher.drop(tree) }
        }
        (started, trees, shown) = ([], [], nil)
        guard !isLost else { throw .lost(during: "perform the quick set of probes") }
        return try answer.get()
    }

    private func probe(_ plans: [CompiledPlan]) throws(LauncherError) -> [QuickFinding] {
        guard let first = plans.first else { return [] }
        let frozen = try start(first)
        try wait { frozen.facts.isComplete }
        let control = try freezeAndKill(frozen)
        var others: [CheckedSandbox] = []
        for plan in plans.dropFirst() { others.append(try start(plan)) }
        try wait { others.allSatisfy(\.facts.isComplete) }
        for other in others { other.closeInput() }
        try wait { others.allSatisfy(\.isOver) }
        return ([frozen] + others).flatMap { sandbox in
            FactsJudge(
                sandbox.facts,
                plan: sandbox.plan,
                host: kit.namespaces,
                makesDevices: launcher.reach == .full
            ).findings
        } + control
    }

    // MARK: - freezing and killing

    private func freezeAndKill(_ sandbox: CheckedSandbox) throws(LauncherError) -> [QuickFinding] {
        var freeze: QuickFinding
        var isFrozen = true
        do throws(LauncherError) {
            freeze = try freezing(sandbox)
            if sandbox.exit == nil { try sandbox.freeze() }
        } catch {
            // A refusal is what was to be found out.
            guard case .refused(let failure) = error else { throw error }
            let reason = "the launcher refused to freeze it: \(failure.reason)"
            freeze = QuickFinding(.freeze, sandbox.plan.role, .missing(reason), evidence: "")
            isFrozen = false
        }
        if sandbox.exit == nil { try sandbox.kill() }
        try wait { sandbox.exit != nil }
        let isDead = isFrozen && sandbox.exit?.wasRequested == true
        let kill = QuickFinding(
            .kill,
            sandbox.plan.role,
            isDead
                ? .enforced
                : .missing(
                    isFrozen
                        ? "it was killed while frozen, and did not end for that"
                        : "nothing can be frozen, so it was not seen to die frozen"
                ),
            evidence: "a sandbox was frozen and killed; it was gone, and its group empty"
        )
        return [freeze, kill]
    }

    private func freezing(_ sandbox: CheckedSandbox) throws(LauncherError) -> QuickFinding {
        func found(_ state: QuickFinding.State) -> QuickFinding {
            QuickFinding(
                .freeze,
                sandbox.plan.role,
                state,
                evidence: "a sandbox that answers at once was frozen: no answer in "
                    + "\(Self.stillness.milliseconds) ms; thawed, it answered"
            )
        }
        sandbox.ask()
        try wait { sandbox.facts.pongs == 1 }
        guard sandbox.facts.pongs == 1 else { return found(.unknown("it never answered")) }
        try sandbox.freeze()
        sandbox.ask()
        try wait(atMost: Self.stillness) { sandbox.facts.pongs > 1 }
        guard sandbox.facts.pongs == 1 else { return found(.missing("it answered while frozen")) }
        try sandbox.thaw()
        try wait { sandbox.facts.pongs == 2 }
        guard sandbox.facts.pongs == 2 else {
            return found(.missing("it did not go on when it was thawed"))
        }
        return found(.enforced)
    }

    // MARK: - sandboxes

    private func start(_ compiled: CompiledPlan) throws(LauncherError) -> CheckedSandbox {
        let checkable = try CheckablePlan(compiled)
        return try start(
            checkable.plan,
            trees(of: compiled, checkable),
            [
                checkable.program, "facts", "\(checkable.plan.limits.processes)",
                "\(checkable.plan.limits.objects)",
            ] + kit.hidden
        )
    }

    func start(
        _ plan: SandboxPlan,
        _ trees: [SandboxTree],
        _ command: [String]
    ) throws(LauncherError) -> CheckedSandbox {
        let sandbox = try CheckedSandbox(plan, trees: trees, command: command, on: launcher)
        started.append(sandbox)
        return sandbox
    }

    // Filling one costs more than a launch: a plan that is used again gets the same.
    private func trees(
        of compiled: CompiledPlan,
        _ checkable: CheckablePlan
    ) throws(LauncherError) -> [SandboxTree] {
        if let shown, shown.plan == compiled { return shown.trees }
        let made = try makeTrees(for: checkable)
        shown = (compiled, made)
        return made
    }

    func makeTrees(for checkable: CheckablePlan) throws(LauncherError) -> [SandboxTree] {
        let plan = checkable.plan
        var made: [SandboxTree] = []
        for index in 0..<TreeNeeds.count(of: plan) {
            let tree = try launcher.makeTree(size: .mebibytes(16), inodes: 256)
            trees.append(tree)
            made.append(tree)
            var paths = TreeNeeds.directories(ofTree: index, in: plan)
            if plan.root == .tree, index == 0 {
                paths += Self.usual + [String(plan.workingDirectory.text.dropFirst())]
            }
            do throws(SystemError) {
                for path in paths { try Self.makeDirectories(path, in: tree.directory) }
                for path in TreeNeeds.files(ofTree: index, in: plan) {
                    _ = try tree.directory.openBeneath(path, [.write, .create], permissions: 0o644)
                }
                guard index == checkable.tree else { continue }
                try tree.directory.replace(
                    QuickSetKit.programName,
                    with: kit.program,
                    permissions: 0o755
                )
            } catch {
                throw .host(during: "fill the tree of a quick probe", error)
            }
        }
        return made
    }

    // What the image of an exam has for mounts.
    private static let usual = ["proc", "dev", "tmp", "candidate", "examiner", "vault"]

    private static func makeDirectories(
        _ path: String,
        in root: borrowing Descriptor
    ) throws(SystemError) {
        var folder = try root.duplicate()
        for name in path.split(separator: "/").map(String.init) {
            do throws(SystemError) { try folder.makeDirectory(name) } catch
                where error.isAlreadyThere
            {}
            let next = try folder.openBeneath(name, [.read, .directory])
            try next.setPermissions(0o755)
            folder = next
        }
    }

    /// Serves the loop until a condition holds, or the time is up.
    func wait(
        atMost span: Nanoseconds = QuickSet.patience,
        until condition: () -> Bool
    ) throws(LauncherError) {
        var isLate = false
        let loop = launcher.loop
        let token = loop.at(MonotonicTime.now.advanced(by: span)) { isLate = true }
        defer { loop.forget(token) }
        do throws(SystemError) {
            try loop.run(until: { isLate || isLost || condition() })
        } catch {
            throw .host(during: "wait for a quick probe", error)
        }
    }
}

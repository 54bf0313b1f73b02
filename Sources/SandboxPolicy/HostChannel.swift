// What the policies in force leave open between a sealed exam's sandboxes and the coding agent, declared once:
// release rows, `status`, the report and the metrics take their channels from here.

public import SandboxPlan
internal import SeccompCompiler

/// A way from a sealed exam's sandboxes to the coding agent other than the answers that it is given.
public enum HostChannel: String, Sendable, CaseIterable {
    /// Numbers of pipes, sockets and memory files, which are moved on at random after each sealed exam.
    case counters = "object-counters"
    /// How many sandboxes an exam started: each takes numbers of mounts and of sessions.
    case launches
    /// Coding agents that run while the exam does.
    case live = "running-agents"
    /// The kernel's choice of TCP source ports, of which one table serves every network.
    case ports = "source-ports"
    /// Packets and socket memory of the whole host, in `/proc/self/net`.
    case packets = "packet-counts"
    /// The number that setsid(2) takes, in `/proc/self/autogroup`.
    case sessions = "session-counts"
    /// Locks, names and pages of host files that both sides are shown.
    case files = "shared-files"
    /// The host's queue of audit records.
    case audit = "audit-records"
    /// Cookies of inotify(7), which count the renames of the whole host.
    case renames = "rename-cookies"
    /// Load, memory and processes of the whole host: sysinfo(2).
    case totals = "host-totals"
    /// Free blocks of the host's disk: statfs(2).
    case space = "free-space"
    /// How long sync(2) takes, which others' writes lengthen.
    case flushing
    /// What all sandboxes of one host user have together.
    case user = "shared-user"
    /// A provider's account that both sides call with one key.
    case provider
    /// A budget of models that both sides draw on.
    case budget = "model-budget"
    /// Answers of a model that arrive while the coding agent stands still.
    case answers = "late-answers"
}

/// What decides which channels are open: the plans of a sealed exam and of the coding sandbox, and the host.
public struct ChannelFacts: Sendable {
    /// The coding sandbox.
    public var coding: SandboxPlan
    /// A candidate's.
    public var candidate: SandboxPlan
    /// The examiner's with the sealed tasks.
    public var examiner: SandboxPlan
    /// What the host was shown to enforce.
    public var level: AssuranceLevel
    /// Whether every coding agent of the host stands still while the exam runs.
    public var isStill: Bool
    /// Whether the coding agent has a model.
    public var agentHasModel = false
    /// Whether the candidate has one, or somebody whom the examiner plays.
    public var examHasModel = false
    /// Whether both sides reach a model by one account.
    public var sharesAccount = false
    /// What is left of a budget that both sides draw on, in bits; 0 where there is none.
    public var budgetBits = 0.0

    /// Collects facts of an experiment whose sandboxes have no model.
    public init(
        coding: SandboxPlan,
        candidate: SandboxPlan,
        examiner: SandboxPlan,
        level: AssuranceLevel,
        isStill: Bool
    ) {
        (self.coding, self.candidate, self.examiner) = (coding, candidate, examiner)
        (self.level, self.isStill) = (level, isStill)
    }

    /// The channels that nothing bounds.
    ///
    /// - Returns: each once, in the order of ``HostChannel``.
    /// - Throws: ``PlanError`` where a plan has a filter that no compiler of ours makes.
    public func unbounded() throws(PlanError) -> [HostChannel] {
        let reach = try Reach(self)
        return HostChannel.allCases.filter { isUnbounded($0, reach) }
    }

    private func isUnbounded(_ channel: HostChannel, _ reach: Reach) -> Bool {
        let seesProcesses = coding.proc != .none
        return switch channel {
        // Charged in bits, however the policies are.
        case .counters, .launches, .budget: false
        case .live: !isStill
        // Who has no internet socket takes no port, and is given none to look at.
        case .ports: reach.agentInternet && reach.examInternet
        // Below `delegated` the payload owns these files. A call of a model is packets of the broker.
        case .packets:
            level < .delegated && seesProcesses && (examHasModel || reach.examInternet)
        case .sessions: seesProcesses && reach.examSessions
        case .files: coding.showsHost && (candidate.showsHost || examiner.showsHost)
        case .audit:
            coding.landlock.isLogged
                && (candidate.landlock.isLogged || examiner.landlock.isLogged)
        case .renames: reach.renames
        case .totals: reach.totals
        case .space: coding.showsHost && reach.space
        case .flushing: reach.flushing
        case .user: level < .full
        case .provider: sharesAccount
        case .answers: agentHasModel && examHasModel
        }
    }
}

/// What filters let both sides do.
private struct Reach {
    let agentInternet, examInternet, examSessions, renames, totals, space, flushing: Bool

    init(_ facts: ChannelFacts) throws(PlanError) {
        let (agent, exam) = (facts.coding, [facts.candidate, facts.examiner])
        agentInternet = try agent.hasInternet
        var (internet, sessions) = (false, false)
        for plan in exam {
            if try plan.hasInternet { internet = true }
            if try plan.makes("setsid") { sessions = true }
        }
        (examInternet, examSessions) = (internet, sessions)
        renames = try agent.makes("inotify_init", "inotify_init1")
        totals = try agent.makes("sysinfo")
        space = try agent.makes("statfs", "fstatfs")
        flushing = try agent.makes("sync", "syncfs")
    }
}

extension SandboxPlan {
    // AF_INET and AF_INET6 of socket(2).
    private static let internet: [UInt32] = [2, 10]

    fileprivate var hasInternet: Bool {
        get throws(PlanError) {
            for family in Self.internet where try makes("socket", family: family) { return true }
            return false
        }
    }

    fileprivate func makes(_ calls: String...) throws(PlanError) -> Bool {
        for call in calls where try makes(call, family: nil) { return true }
        return false
    }

    private func makes(_ call: String, family: UInt32?) throws(PlanError) -> Bool {
        let number: UInt32
        do throws(SeccompError) { number = try SyscallNumbers.number(of: call) } catch {
            // A name of ours that the compiler does not know could be any call.
            return true
        }
        return try allows(number, family)
    }

    fileprivate var showsHost: Bool {
        mounts.contains { mount in
            switch mount.source {
            case .host: true
            case .vault, .tree, .treeFile, .tmpfs: false
            }
        }
    }
}

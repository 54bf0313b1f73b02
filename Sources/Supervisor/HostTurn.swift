// Sealed exams and coding agents of one host take turns, whatever state directories they have.
//
// Two files, each locked with flock(2). Of `sealed-exam` whoever runs a sealed exam has all. Of `agents`
// every supervisor has a share while its coding agent may run, and a sealed exam begins only once it has
// all of it. So nothing has to be found or asked: a supervisor that sees `sealed-exam` taken freezes its
// coding agent and gives its share back; one that does not, because it is stopped, keeps its share, and no
// exam begins beside it. The kernel gives back what an ended process had.
//
// Turns are fair by claims (TurnClaims), before any lock is taken: sealed exams go in the order in which they
// came, and the next one lets every coding agent that waited for another have half of that time (AgentTime).
// A claim guards nothing. A supervisor that takes its share between an exam's look at the claims and its lock
// gives the share back when it sees the lock, and no exam begins before.
//
// With `isolation: experiment`, a sealed exam freezes its own experiment's agent alone. It has a share of
// `sealed-exam` in place of all of it: what others see when they look for an exam is that share's absence of
// meaning, so their agents run on, and exams of that kind run beside each other. One that freezes the whole
// host still runs alone: it gets all of the file once every share is back, and those who came after it wait
// behind its claim. The agent of such an experiment gives way to the exams of others as any agent does.

internal import HostKernel
package import LinuxKernel
package import Workspace

/// What somebody waits for, and since when.
package struct TurnWait: Sendable, Equatable {
    /// Who waits.
    package enum Who: String, Sendable {
        /// A coding agent that is frozen, or not started.
        case codingAgent = "coding-agent"
        /// A sealed exam that has not begun.
        case sealedExam = "sealed-exam"
    }

    /// Why.
    package enum Why: String, Sendable {
        /// A sealed exam runs, or is before ours in the line.
        case sealedExam = "sealed-exam"
        /// A coding agent has time that it is owed for its wait.
        case codingAgent = "coding-agent"
    }

    /// Who waits.
    package let who: Who
    /// Why.
    package let why: Why
    /// The other experiment, where its supervisor said which.
    package let experiment: String?
    /// Since when.
    package let since: MonotonicTime

    /// Says who waits, why, for which other experiment and since when.
    package init(who: Who, why: Why, experiment: String?, since: MonotonicTime) {
        self.who = who
        self.why = why
        self.experiment = experiment
        self.since = since
    }
}

/// One supervisor's place among those of its host.
package final class HostTurn {
    /// Where both files are.
    ///
    /// Only root may make files in /run (Filesystem Hierarchy Standard).
    package static let folder = "/run/invigilator"

    /// Whom a sealed exam of ours freezes.
    package let isolation: Isolation
    private let experiment: String
    private let exam: SharedDescriptor
    private let agents: SharedDescriptor
    private let claims: TurnClaims
    private let clock: () -> MonotonicTime
    private var hasExam = false
    private var stoppedSince: MonotonicTime?
    // The claim of our sealed exam, and since when it waits.
    private var claim: TurnClaims.Own?
    private var claimed: MonotonicTime?
    // The claim of our coding agent to its time.
    private var owed: TurnClaims.Own?
    private var member: TurnClaims.Own?
    private var split: String?
    private var passedOver: (looked: MonotonicTime, claims: [UInt64: Int32])?
    /// Whether our coding agent may run.
    package private(set) var hasShare = false
    /// How long our coding agent ran and waited.
    package private(set) var time = AgentTime()
    /// What our coding agent waits for, if it does.
    package private(set) var agentWait: TurnWait?
    /// What our sealed exam waits for, if it does.
    package private(set) var examWait: TurnWait?
    /// Told that the coding agent may run, or must not from now on.
    package var onShare: (Bool) throws(SupervisorError) -> Void = { _ in }
    /// Told each stopped process that was before us in the line, and is passed over.
    package var onPassedOver: (Int32) -> Void = { _ in }

    /// Opens both files and the folder of claims, making what is missing: as root, before rights are given up.
    ///
    /// - Parameters:
    ///   - folder: where they are; root's alone.
    ///   - owner: who must own them.
    ///   - experiment: our experiment's id, for those who wait for us. It is an operator's matter: whoever
    ///     can read a claim may command every experiment there is, and no coding agent is ever told of it.
    ///   - isolation: whom our sealed exams freeze.
    ///   - clock: the time of this host.
    /// - Throws: ``SupervisorError``.
    package init(
        in folder: String = HostTurn.folder,
        owner: UInt32 = 0,
        experiment: String,
        isolation: Isolation = .host,
        clock: @escaping () -> MonotonicTime = { .now }
    ) throws(SupervisorError) {
        self.experiment = experiment
        self.isolation = isolation
        self.clock = clock
        let group = Self.group(of: owner)
        let user = owner == 0 ? StateLayout.supervisor : owner
        (exam, agents, claims) = try system("open the locks of this host", folder) {
            () throws(SystemError) in
            try StateLayout.makeDirectories(folder)
            let opened = try Descriptor.openWithoutLinks(folder, [.read, .directory])
            try opened.setOwner(owner, group: group)
            try opened.setPermissions(0o700)
            return (
                try Self.open("sealed-exam", in: opened, owner: owner),
                try Self.open("agents", in: opened, owner: owner),
                try TurnClaims(in: opened, folder, user: (user, owner == 0 ? user : group))
            )
        }
    }

    /// Opens the files of this host as root, and those of a state directory as an ordinary user, whose
    /// supervisors know of each other only there.
    package convenience init(
        of layout: StateLayout,
        experiment: String,
        isolation: Isolation
    ) throws(SupervisorError) {
        let user = Identity.effectiveUser
        try self.init(
            in: user == 0 ? Self.folder : "\(layout.root)/turns",
            owner: user,
            experiment: experiment,
            isolation: isolation
        )
    }

    private static func open(
        _ name: String,
        in folder: borrowing Descriptor,
        owner: UInt32
    ) throws(SystemError) -> SharedDescriptor {
        let file = try folder.openBeneath(name, [.readWrite, .create], permissions: 0o600)
        try file.setOwner(owner, group: group(of: owner))
        return SharedDescriptor(file)
    }

    private static func group(of owner: UInt32) -> UInt32 {
        owner == Identity.effectiveUser ? Identity.effectiveGroup : owner
    }

    // MARK: - who is there

    /// Says that our experiment may run a coding agent, and which split it was drawn from.
    ///
    /// - Parameter split: the split as a digest.
    /// - Throws: ``SupervisorError``.
    package func join(_ split: String) throws(SupervisorError) {
        self.split = split
        guard member == nil else { return }
        member = try claiming { () throws(SystemError) in
            try claims.make(.member, for: experiment, of: split, at: clock())
        }
    }

    /// The experiment of another living supervisor that was drawn from our split, if there is one.
    ///
    /// To be asked with the turn taken: whoever joins after it sees our exam, and waits for its end.
    package func neighbourOfSplit() throws(SupervisorError) -> String? {
        guard let split else { return nil }
        let living = try claiming { () throws(SystemError) in try claims.living(except: member) }
        return living.first { $0.kind == .member && $0.split == split }
            .map { $0.experiment ?? "of another state directory" }
    }

    // A sealed exam of our split that freezes nobody else: the one exam that no lock shows us.
    private func isOurSplitExamined() throws(SupervisorError) -> Bool {
        guard let split else { return false }
        let living = try claiming { () throws(SystemError) in try claims.living(except: claim) }
        return living.contains { $0.kind == .exam && $0.split == split }
    }

    // MARK: - a coding agent

    /// Takes the share that a coding agent needs to run, unless a sealed exam runs or waits for it.
    ///
    /// - Returns: whether it may run now.
    package func takeShare() throws(SupervisorError) -> Bool {
        if try !claimShare() { try requireRunningHolder() }
        try note(wantsToRun: true)
        return hasShare
    }

    private func claimShare() throws(SupervisorError) -> Bool {
        if hasShare { return true }
        guard try !isExamElsewhere(), !hasExam, try !isOurSplitExamined() else { return false }
        hasShare = try locking { () throws(SystemError) in
            try agents.descriptor.tryLockShared()
        }
        if hasShare { try onShare(true) }
        return hasShare
    }

    /// Gives way to a sealed exam of another supervisor, or goes on after it.
    ///
    /// - Parameter wantsToRun: whether nothing but others keeps our coding agent from running; time in which
    ///   it waits for us, or does not run at all, is not owed to it.
    /// - Throws: ``SupervisorError``.
    package func follow(wantsToRun: Bool = true) throws(SupervisorError) {
        guard !hasExam else { return try note(wantsToRun: false) }
        if try isExamElsewhere() {
            try giveBackShare()
        } else {
            _ = try claimShare()
        }
        try note(wantsToRun: wantsToRun)
    }

    /// Gives the share back.
    ///
    /// Frozen first: where that fails, it stays ours and no exam begins.
    package func giveBackShare() throws(SupervisorError) {
        guard hasShare else { return }
        try onShare(false)
        try locking { () throws(SystemError) in try agents.descriptor.unlock() }
        hasShare = false
    }

    /// Ends what our coding agent waited for and is owed: it is gone.
    package func endAgent() throws(SupervisorError) { try note(wantsToRun: false) }

    private func isExamElsewhere() throws(SupervisorError) -> Bool {
        if hasExam { return false }
        return try locking { () throws(SystemError) in
            guard try exam.descriptor.tryLockShared() else { return true }
            try exam.descriptor.unlock()
            return false
        }
    }

    // An agent that is owed time claims it while it still waits: between one exam's end and the next one's
    // look no supervisor needs to have noticed anything.
    private func note(wantsToRun: Bool) throws(SupervisorError) {
        time.note(wantsToRun ? (hasShare ? .running : .waiting) : .away, at: clock())
        if time.goesFirst, owed == nil {
            owed = try claiming { () throws(SystemError) in
                try claims.make(.owed, for: experiment, of: split, at: clock())
            }
        } else if !time.goesFirst, let claim = owed {
            owed = nil
            try claiming { () throws(SystemError) in try claims.withdraw(claim) }
        }
        guard let since = time.waitsSince else { return agentWait = nil }
        let living = try claiming { () throws(SystemError) in try claims.living(except: claim, owed)
        }
        agentWait = TurnWait(
            who: .codingAgent,
            why: .sealedExam,
            experiment: living.first { $0.kind == .exam }?.experiment,
            since: since
        )
    }

    // MARK: - a sealed exam

    /// Takes the turn if it is ours; our own coding agent gives way.
    ///
    /// The first call is what makes our place in the line, and ``releaseExam()`` gives it up.
    package func takeExam() throws(SupervisorError) -> Bool {
        let now = clock()
        let mine: TurnClaims.Own
        if let claim {
            mine = claim
        } else {
            mine = try claiming { () throws(SystemError) in
                try claims.make(.waits, for: experiment, of: split, at: now)
            }
            claim = mine
        }
        let since = claimed ?? now
        claimed = since
        let others = try living()
        func wait(_ why: TurnWait.Why, _ other: TurnClaims.Claim?) throws(SupervisorError) -> Bool {
            examWait = TurnWait(
                who: .sealedExam,
                why: why,
                experiment: other?.experiment,
                since: since
            )
            try requireRunningHolder()
            return false
        }
        let running = others.first { $0.kind == .exam }
        if let first = others.first(where: { $0.kind == .waits && $0.order < mine.order }) {
            return try wait(.sealedExam, running ?? first)
        }
        // Whoever freezes nobody else neither waits for agents nor for exams that do not freeze us.
        if isolation == .host {
            if let running { return try wait(.sealedExam, running) }
            if let agent = others.first(where: { $0.kind == .owed }) {
                return try wait(.codingAgent, agent)
            }
        }
        hasExam = try locking { () throws(SystemError) in
            switch isolation {
            case .host: try exam.descriptor.tryLock()
            case .experiment: try exam.descriptor.tryLockShared()
            }
        }
        guard hasExam else { return try wait(.sealedExam, running) }
        examWait = nil
        try claiming { () throws(SystemError) in try claims.change(mine, to: .exam) }
        try giveBackShare()
        try note(wantsToRun: false)
        return true
    }

    // Others' claims, but for those of processes that are stopped (SIGSTOP): whoever does not run needs no
    // turn, and would keep everybody waiting. It has its place again when it goes on.
    private func living() throws(SupervisorError) -> [TurnClaims.Claim] {
        let now = clock()
        let found = try claiming { () throws(SystemError) in try claims.living(except: claim, owed)
        }
        if passedOver.map({ now.since($0.looked) >= .milliseconds(1000) }) ?? true {
            let inodes = Set(found.filter { [.waits, .owed].contains($0.kind) }.map(\.inode))
            let stopped = try claiming { () throws(SystemError) in
                try LockHolders.stopped(of: inodes)
            }
            for (inode, pid) in stopped where passedOver?.claims[inode] == nil { onPassedOver(pid) }
            passedOver = (now, stopped)
        }
        return found.filter { passedOver?.claims[$0.inode] == nil }
    }

    // An exam may last as long as it likes; a process that was stopped (SIGSTOP) in the middle of one may
    // not keep everybody waiting.
    private func requireRunningHolder() throws(SupervisorError) {
        let stopped = try system("find who runs a sealed exam", "/proc/locks") {
            () throws(SystemError) in
            let inode = try exam.descriptor.status().inode
            return try LockHolders.stopped(of: [inode])[inode]
        }
        guard let holder = stopped else { return stoppedSince = nil }
        let now = clock()
        let since = stoppedSince ?? now
        stoppedSince = since
        guard now.since(since) >= ControlQuestion.patience else { return }
        throw SupervisorError(
            .hostFailed,
            operation: "wait for another experiment's sealed exam",
            location: "\(Self.folder)/sealed-exam",
            reason: "process \(holder), which runs it, is stopped",
            remedy: "let it go on (kill -CONT \(holder)) or end it (kill -KILL \(holder)),"
                + " then run again"
        )
    }

    /// Whether every coding agent that our exam freezes is frozen or was not started, and stays so.
    package func areAgentsFrozen() throws(SupervisorError) -> Bool {
        guard isolation == .host else { return !hasShare }
        return try locking { () throws(SystemError) in try agents.descriptor.tryLock() }
    }

    /// Ends the turn, or our place in the line.
    package func releaseExam() throws(SupervisorError) {
        examWait = nil
        claimed = nil
        if let mine = claim {
            claim = nil
            try claiming { () throws(SystemError) in try claims.withdraw(mine) }
        }
        guard hasExam else { return }
        try locking { () throws(SystemError) in
            try agents.descriptor.unlock()
            try exam.descriptor.unlock()
        }
        hasExam = false
    }

    private func locking<Answer>(
        _ body: () throws(SystemError) -> Answer
    ) throws(SupervisorError) -> Answer {
        try system("lock", Self.folder, body)
    }

    private func claiming<Answer>(
        _ body: () throws(SystemError) -> Answer
    ) throws(SupervisorError) -> Answer {
        try system("claim a turn of this host", claims.path, body)
    }
}

/// Who asked us to keep our coding agent frozen, and what they are told.
package struct Holds: Sendable {
    private var connections: Set<Int> = []

    /// Begins with nobody.
    package init() {}

    /// Whether nobody asks.
    package var isEmpty: Bool { connections.isEmpty }

    /// Freezes for one more; an answer of "ok" says that the agent is frozen.
    ///
    /// - Parameters:
    ///   - connection: who asks.
    ///   - freeze: changes the number of holds.
    /// - Returns: why it is not frozen; nothing where it is.
    package mutating func add(
        _ connection: Int,
        freezing freeze: (Int) throws(SupervisorError) -> Void
    ) -> SupervisorError? {
        do throws(SupervisorError) { try freeze(1) } catch { return error }
        connections.insert(connection)
        return nil
    }

    /// Ends the hold of one who is gone.
    ///
    /// - Throws: what `freeze` throws.
    package mutating func remove(
        _ connection: Int,
        freezing freeze: (Int) throws(SupervisorError) -> Void
    ) throws(SupervisorError) {
        guard connections.remove(connection) != nil else { return }
        try freeze(-1)
    }
}

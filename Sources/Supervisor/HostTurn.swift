// Sealed exams and coding agents of one host take turns, whatever state directories they have.
//
// Two files, each locked with flock(2). Of `sealed-exam` whoever runs a sealed exam has all. Of `agents`
// every supervisor has a share while its coding agent may run, and a sealed exam begins only once it has
// all of it. So nothing has to be found or asked: a supervisor that sees `sealed-exam` taken freezes its
// coding agent and gives its share back; one that does not, because it is stopped, keeps its share, and no
// exam begins beside it. The kernel gives back what an ended process had.

internal import HostKernel
internal import LinuxKernel

/// One supervisor's place among those of its host.
package final class HostTurn {
    /// Where both files are.
    ///
    /// Only root may make files in /run (Filesystem Hierarchy Standard).
    package static let folder = "/run/invigilator"

    private let exam: SharedDescriptor
    private let agents: SharedDescriptor
    private var hasExam = false
    private var stoppedSince: MonotonicTime?
    /// Whether our coding agent may run.
    package private(set) var hasShare = false
    /// Told that the coding agent may run, or must not from now on.
    package var onShare: (Bool) throws(SupervisorError) -> Void = { _ in }

    /// Opens both files, making what is missing: as root, before rights are given up.
    ///
    /// - Parameters:
    ///   - folder: where they are; root's alone.
    ///   - owner: who must own them.
    /// - Throws: ``SupervisorError``.
    package init(
        in folder: String = HostTurn.folder,
        owner: UInt32 = 0
    ) throws(SupervisorError) {
        let (exam, agents) = try system("open the locks of this host", folder) {
            () throws(SystemError) in
            try StateLayout.makeDirectories(folder)
            let opened = try Descriptor.openWithoutLinks(folder, [.read, .directory])
            try opened.setOwner(owner, group: Self.group(of: owner))
            try opened.setPermissions(0o700)
            return (
                try Self.open("sealed-exam", in: opened, owner: owner),
                try Self.open("agents", in: opened, owner: owner)
            )
        }
        self.exam = exam
        self.agents = agents
    }

    /// Opens the files of this host as root, and those of a state directory as an ordinary user, whose
    /// supervisors know of each other only there.
    package convenience init(of layout: StateLayout) throws(SupervisorError) {
        let user = Identity.effectiveUser
        try self.init(in: user == 0 ? Self.folder : "\(layout.root)/turns", owner: user)
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

    // MARK: - a coding agent

    /// Takes the share that a coding agent needs to run, unless a sealed exam runs or waits for it.
    ///
    /// - Returns: whether it may run now.
    package func takeShare() throws(SupervisorError) -> Bool {
        if hasShare { return true }
        guard try !isExamElsewhere(), !hasExam else {
            try requireRunningHolder()
            return false
        }
        hasShare = try locking { () throws(SystemError) in
            try agents.descriptor.tryLockShared()
        }
        if hasShare { try onShare(true) }
        return hasShare
    }

    /// Gives way to a sealed exam of another supervisor, or goes on after it.
    package func follow() throws(SupervisorError) {
        guard !hasExam else { return }
        if try isExamElsewhere() {
            try giveBackShare()
        } else {
            _ = try takeShare()
        }
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

    private func isExamElsewhere() throws(SupervisorError) -> Bool {
        if hasExam { return false }
        return try locking { () throws(SystemError) in
            guard try exam.descriptor.tryLockShared() else { return true }
            try exam.descriptor.unlock()
            return false
        }
    }

    // MARK: - a sealed exam

    /// Takes the turn if no sealed exam runs on this host; our own coding agent gives way.
    package func takeExam() throws(SupervisorError) -> Bool {
        hasExam = try locking { () throws(SystemError) in try exam.descriptor.tryLock() }
        if hasExam { try giveBackShare() } else { try requireRunningHolder() }
        return hasExam
    }

    // An exam may last as long as it likes; a process that was stopped (SIGSTOP) in the middle of one may
    // not keep everybody waiting.
    private func requireRunningHolder() throws(SupervisorError) {
        guard let holder = try holder(), Self.isStopped(holder) else { return stoppedSince = nil }
        let since = stoppedSince ?? MonotonicTime.now
        stoppedSince = since
        guard MonotonicTime.now.since(since) >= ControlQuestion.patience else { return }
        throw SupervisorError(
            .hostFailed,
            operation: "wait for another experiment's sealed exam",
            location: "\(Self.folder)/sealed-exam",
            reason: "process \(holder), which runs it, is stopped",
            remedy: "let it go on (kill -CONT \(holder)) or end it (kill -KILL \(holder)),"
                + " then run again"
        )
    }

    // Who has all of the file, from the kernel's list (proc_locks(5)): number, kind, mode, access,
    // process, device and inode.
    private func holder() throws(SupervisorError) -> Int32? {
        try system("find who runs a sealed exam", "/proc/locks") { () throws(SystemError) in
            let number = try exam.descriptor.status().inode
            let bytes = try Descriptor.open("/proc/locks", [.read]).readAll(limit: 1 << 20)
            for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
                let words = line.split(separator: " ")
                guard words.count > 5, words[1] == "FLOCK", words[3] == "WRITE",
                    words[5].hasSuffix(":\(number)")
                else { continue }
                return Int32(words[4])
            }
            return nil
        }
    }

    // The word after the name in parentheses (proc_pid_stat(5), state).
    private static func isStopped(_ pid: Int32) -> Bool {
        do throws(SystemError) {
            let bytes = try Descriptor.open("/proc/\(pid)/stat", [.read]).readAll(limit: 4096)
            let text = String(decoding: bytes, as: UTF8.self)
            return text.split(separator: ")").last?.split(separator: " ").first == "T"
        } catch {
            return false  // who is gone holds nothing
        }
    }

    /// Whether every coding agent of this host is frozen or was not started, and stays so.
    package func areAgentsFrozen() throws(SupervisorError) -> Bool {
        try locking { () throws(SystemError) in try agents.descriptor.tryLock() }
    }

    /// Ends the turn.
    package func releaseExam() throws(SupervisorError) {
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

// Who waits for a turn on this host, in which order, and who has one: a file for each, which its owner holds
// locked (flock(2)) for as long as it means something.
//
// They order and name, and guard nothing: that no coding agent runs beside a sealed exam, and no second
// sealed exam, follows from the two locks of HostTurn alone. So the folder belongs to the supervisors' user,
// who makes these files long after it gave root up, and losing one costs an experiment its place in the line.
//
// A name is never used again (a clock and eight random bytes), and whoever removes one has the lock of its
// file: so nobody ever removes what another supervisor holds, and a file that nobody has locked is one whose
// owner ended, however it did.

internal import HostKernel
internal import LinuxKernel
internal import StrictJSON

/// The claims of this host's supervisors.
struct TurnClaims {
    /// What is claimed.
    enum Kind: String, CaseIterable {
        /// A sealed exam that waits for its turn.
        case waits
        /// A sealed exam that has its turn.
        case exam
        /// Time for a coding agent that waited for a sealed exam.
        case owed
        /// A supervisor that runs a coding agent, or would: nothing is claimed but to be there.
        case member
    }

    /// A claim of ours.
    final class Own {
        fileprivate(set) var name: String
        let order: String
        private let file: SharedDescriptor

        fileprivate init(_ kind: Kind, _ order: String, _ file: SharedDescriptor) {
            name = "\(kind.rawValue)-\(order)"
            self.order = order
            self.file = file
        }
    }

    /// A claim of anybody who lives.
    struct Claim {
        let kind: Kind
        /// What came first is the smallest.
        let order: String
        /// The experiment that it was made for; absent where its owner did not say.
        let experiment: String?
        /// Which split that experiment was drawn from, as a digest; absent where its owner did not say.
        let split: String?
        let inode: UInt64
    }

    let path: String
    private let folder: SharedDescriptor
    // The note is one of ours, and small.
    private static let noteLimit = 4096
    private static let attempts = 16

    /// Opens the folder of claims in that of the locks, making it where it is missing.
    ///
    /// - Parameters:
    ///   - above: the folder of the locks.
    ///   - path: its path.
    ///   - user: who makes claims.
    /// - Throws: `SystemError`.
    init(
        in above: borrowing Descriptor,
        _ path: String,
        user: (id: UInt32, group: UInt32)
    ) throws(SystemError) {
        try above.makeDirectoryIfMissing("claims")
        let opened = try above.openBeneath("claims", [.read, .directory])
        try opened.setOwner(user.id, group: user.group)
        try opened.setPermissions(0o700)
        folder = SharedDescriptor(opened)
        self.path = "\(path)/claims"
    }

    // MARK: - ours

    /// Makes a claim.
    ///
    /// The file has its lock before it has its name, so no claim is ever seen without its owner.
    func make(
        _ kind: Kind,
        for experiment: String,
        of split: String?,
        at time: MonotonicTime
    ) throws(SystemError) -> Own {
        for _ in 0..<Self.attempts {
            let chance = try KernelRandom.bytes(8).map { Self.padded($0, radix: 16, to: 2) }
                .joined()
            let new = ".\(chance)"
            let file = try folder.descriptor.openBeneath(new, [.readWrite, .createNew])
            // Who looks for the dead may take our file for one of theirs, until we have locked it.
            guard try file.tryLock() else { continue }
            var note: [String: JSONValue] = ["experiment": .string(experiment)]
            note["split"] = split.map { .string($0) }
            try file.writeAll(JSONValue.object(note).canonicalBytes)
            let order = Self.padded(time.nanoseconds, radix: 10, to: 20) + "-\(chance)"
            let own = Own(kind, order, SharedDescriptor(file))
            do throws(SystemError) { try folder.descriptor.rename(new, to: own.name) } catch {
                guard error.isMissing else { throw error }
                continue
            }
            return own
        }
        throw SystemError("rename", "a claim was removed \(Self.attempts) times", number: 11)
    }

    /// Makes a claim that waited one that has its turn; its place stays.
    func change(_ claim: Own, to kind: Kind) throws(SystemError) {
        let name = "\(kind.rawValue)-\(claim.order)"
        try folder.descriptor.rename(claim.name, to: name)
        claim.name = name
    }

    /// Ends a claim.
    func withdraw(_ claim: Own) throws(SystemError) {
        do throws(SystemError) {
            try folder.descriptor.remove(claim.name)
        } catch  where error.isMissing {}
    }

    private static func padded(_ number: some BinaryInteger, radix: Int, to length: Int) -> String {
        let text = String(number, radix: radix)
        return String(repeating: "0", count: max(0, length - text.count)) + text
    }

    // MARK: - everybody's

    /// The claims of those who live, the first one first; what the dead left is removed.
    ///
    /// - Parameter own: a claim that is not among them.
    /// - Returns: the claims.
    /// - Throws: `SystemError`.
    func living(except own: Own?...) throws(SystemError) -> [Claim] {
        let names = Set(own.compactMap { $0?.name })
        var found: [Claim] = []
        for name in try folder.descriptor.entries() where !names.contains(name) {
            do throws(SystemError) {
                let file = try folder.descriptor.openBeneath(name, [.read, .nonBlocking])
                guard try !file.tryLockShared() else {
                    try folder.descriptor.remove(name)
                    continue
                }
                guard let dash = name.firstIndex(of: "-"),
                    let kind = Kind(rawValue: String(name[..<dash]))
                else { continue }
                let note = Self.note(try file.readAll(limit: Self.noteLimit))
                found.append(
                    Claim(
                        kind: kind,
                        order: String(name[name.index(after: dash)...]),
                        experiment: Self.word("experiment", in: note),
                        split: Self.word("split", in: note),
                        inode: try file.status().inode
                    )
                )
            } catch {
                // Withdrawn or changed while we looked; the next look sees what it is now.
                guard error.isMissing else { throw error }
            }
        }
        return found.sorted { $0.order < $1.order }
    }

    private static func note(_ bytes: [UInt8]) -> JSONValue {
        do throws(JSONError) { return try JSONValue(parsing: bytes, limits: .request) } catch {
            return .null
        }
    }

    // An id is letters, digits and dashes; anything else is not repeated to anybody.
    private static func word(_ name: String, in note: JSONValue) -> String? {
        guard let text = note[name]?.stringValue, (1...64).contains(text.utf8.count),
            text.utf8.allSatisfy({
                (0x30...0x39).contains($0) || (0x61...0x7A).contains($0) || $0 == 0x2D
            })
        else { return nil }
        return text
    }
}

/// Who holds locks of files, from the kernel's list (proc_locks(5)): number, kind, mode, access, process,
/// device and inode.
enum LockHolders {
    /// The processes that have a lock or a share of one of these files and are stopped (SIGSTOP), by file.
    static func stopped(of inodes: Set<UInt64>) throws(SystemError) -> [UInt64: Int32] {
        var found: [UInt64: Int32] = [:]
        let bytes = try Descriptor.open("/proc/locks", [.read]).readAll(limit: 1 << 20)
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count > 5, words[1] == "FLOCK",
                let inode = words[5].split(separator: ":").last.flatMap({ UInt64($0) }),
                inodes.contains(inode), let pid = Int32(words[4]), isStopped(pid)
            else { continue }
            found[inode] = pid
        }
        return found
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
}

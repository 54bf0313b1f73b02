/// Why the ledger could not do what was asked.
public enum LedgerError: Error, Sendable, Equatable {
    /// Another process holds the ledger; its process id when the lock file names it.
    case locked(location: String, holder: Int32?)
    /// There is a file already where a new one was to be made.
    case exists(location: String)
    /// There is no ledger at the path.
    case missing(location: String)
    /// The key file could be read or replaced by others, or is not what it must be.
    case unsafeKey(location: String, reason: String)
    /// The key is not the one that this ledger's rows were signed with.
    case foreignKey(location: String)
    /// The file belongs to a newer program, or to another one.
    case unknownFormat(location: String, reason: String)
    /// A row's kind is not known to this version.
    case unknownKind(location: String, sequence: Int64, kind: String)
    /// A row, a signature or a link is not as it was written.
    case damaged(location: String, fault: VerificationFault)
    /// The body is not a JSON object within the limits.
    case badBody(location: String, reason: String)
    /// The disk is full; nothing of the row was stored.
    case storageFull(operation: String, location: String)
    /// The kernel or SQLite refused.
    case storage(operation: String, location: String, reason: String)
    /// The receiver of an export did not take it.
    case exportRefused(location: String, reason: String)
}

extension LedgerError: CustomStringConvertible {
    /// What was being done.
    public var operation: String {
        switch self {
        case .locked, .missing, .unknownFormat: "open the ledger"
        case .exists: "create the ledger"
        case .unsafeKey, .foreignKey: "read the signing key"
        case .unknownKind: "read the ledger"
        case .damaged: "verify the ledger"
        case .badBody: "append a row"
        case .storageFull(let operation, _), .storage(let operation, _, _): operation
        case .exportRefused: "export the ledger"
        }
    }

    /// Where: a path, or the kind of the row.
    public var location: String {
        switch self {
        case .locked(let location, _), .exists(let location), .missing(let location),
            .unsafeKey(let location, _), .foreignKey(let location),
            .unknownFormat(let location, _), .unknownKind(let location, _, _),
            .damaged(let location, _), .badBody(let location, _), .storageFull(_, let location),
            .storage(_, let location, _), .exportRefused(let location, _):
            location
        }
    }

    /// Why it failed.
    public var reason: String {
        switch self {
        case .locked(_, let holder?): "process \(holder) holds it"
        case .locked(_, nil): "another process holds it"
        case .exists: "there is a file already"
        case .missing: "there is no ledger here"
        case .unsafeKey(_, let reason), .unknownFormat(_, let reason), .badBody(_, let reason),
            .storage(_, _, let reason), .exportRefused(_, let reason):
            reason
        case .foreignKey: "it is not the key that the rows were signed with"
        case .unknownKind(_, let sequence, let kind):
            "row \(sequence) is of the unknown kind '\(kind)'"
        case .damaged(_, let fault): fault.description
        case .storageFull:
            "no space is left; nothing was stored by half, and no earlier row is lost"
        }
    }

    /// What to do about it.
    public var remedy: String {
        switch self {
        case .locked: "wait for that run to end, or end it with 'invigilator stop'"
        case .exists: "name another experiment, or move the old one away"
        case .missing: "run 'invigilator init' and 'invigilator prepare' first"
        case .unsafeKey:
            "restore the key from a backup with mode 0600, owned by the supervisor's user; if it is "
                + "lost, 'invigilator ledger replace-key' goes on with another one, for all to see"
        case .foreignKey:
            "restore the key.ed25519 that this ledger goes on with; if 'invigilator ledger "
                + "rotate-key' was cut off, run it again"
        case .unknownFormat, .unknownKind: "use the version of invigilator that wrote it"
        case .damaged:
            "stop the experiment, keep the file as evidence and compare it with an older export"
        case .badBody: "report this: the supervisor built a row that it could not read again"
        case .storageFull: "free space on this file system, then try again"
        case .storage: "check the disk and the permissions of the state directory, then try again"
        case .exportRefused: "export again to a place with enough space"
        }
    }

    /// The error on one line.
    public var description: String {
        "\(operation): \(location): \(reason); \(remedy)"
    }
}

// What joins a record and a directory: the record's newest row `bound` has the digest of the key that the
// directory's marker file holds. `init` writes the first one. A record of an earlier version has none, and is bound
// by the next command of whoever owns the state, in a directory of theirs; in another user's directory, or where a
// key was lost, the operator says by `ledger bind` that it is the experiment's.

internal import HostKernel
internal import IterationLoop
public import Ledger
internal import LinuxKernel
internal import StrictJSON
internal import Workspace

extension MarkerKey {
    /// A new key of the kernel's random numbers.
    static func drawn() throws(SupervisorError) -> MarkerKey {
        let bytes = try system("draw a key", ExperimentMarker.name) { () throws(SystemError) in
            try KernelRandom.bytes(byteCount)
        }
        guard let key = MarkerKey(bytes: bytes) else { fatalError("as many bytes were drawn") }
        return key
    }
}

extension Experiment {
    /// Refuses a record that is not this directory's.
    ///
    /// - Parameters:
    ///   - reader: the record.
    ///   - orNoDirectory: whether a record that knows no directory is taken, too.
    /// - Throws: ``SupervisorError``.
    public func requireBound(
        in reader: LedgerReader,
        orNoDirectory: Bool = false
    ) throws(SupervisorError) {
        let row = try ledgered { () throws(LedgerError) in try reader.newest(.bound) }
        guard let row else {
            guard !orNoDirectory else { return }
            throw unbound(
                "the record of experiment \(id) is of an earlier version, and knows no directory",
                "if this is the directory of that experiment, and of nobody else's: "
                    + "`\(Self.sudo)invigilator ledger bind \(directory)`"
            )
        }
        guard let digest = row.body[Self.digestMember]?.stringValue else {
            throw SupervisorError(
                .integrity,
                operation: "open the record of an experiment",
                location: "row \(row.sequence)",
                reason: "it has no digest of a key",
                remedy: "restore the state directory from a copy"
            )
        }
        guard key?.has(digest: digest) == true else { throw foreign }
    }

    /// The same, of the record as it lies in the state directory.
    func requireBound(
        in layout: StateLayout,
        orNoDirectory: Bool = false
    ) throws(SupervisorError) {
        let reader = try ledgered { () throws(LedgerError) in
            try LedgerReader.open(at: layout.ledger(id))
        }
        try requireBound(in: reader, orNoDirectory: orNoDirectory)
    }

    private static let digestMember = "key_digest"

    /// The row that takes a key for the experiment's.
    static func binding(_ digest: String, ownedBy user: UInt32) -> LedgerEvent {
        .other(
            kind: EventKind.bound.rawValue,
            body: [digestMember: .string(digest), "owner": JSONValue(Int(user))]
        )
    }

    private var foreign: SupervisorError {
        unbound(
            (key == nil ? "it has no key" : "it has another key than the one")
                + " that the record of experiment \(id) is bound to",
            "name that directory, or copy its \(ExperimentMarker.name) here; if the key is lost, and "
                + "this is the experiment's directory and nobody else's: "
                + "`\(Self.sudo)invigilator ledger bind \(directory)`"
        )
    }

    private func unbound(_ reason: String, _ remedy: String) -> SupervisorError {
        SupervisorError(
            .usage,
            operation: "open the record of an experiment",
            location: "\(directory)/\(ExperimentMarker.name)",
            reason: reason,
            remedy: remedy
        )
    }
}

/// The operator's act that gives a directory a new key, and binds the record to it.
///
/// The row comes first, by a process that may not write here; cut off between both, the directory is refused,
/// and the same act finishes it.
public struct ExperimentBinding {
    private let experiment: Experiment
    private let key: MarkerKey

    /// Begins, with the rights of whoever gave the command.
    ///
    /// - Throws: ``SupervisorError``.
    public init(_ directory: String) throws(SupervisorError) {
        experiment = try Experiment.openToBind(directory)
        key = try MarkerKey.drawn()
    }

    /// Whether the record may be bound without being asked: an earlier version made the directory, which is of
    /// whoever owns the state.
    public static func isDue(_ experiment: Experiment) -> Bool {
        experiment.key == nil && experiment.user == Identity.effectiveUser
    }

    /// The directory.
    public var directory: String { experiment.directory }
    /// The experiment's number.
    public var id: String { experiment.id }
    /// What the row says of the key.
    public var digest: String { key.digest }

    /// Appends the row; gives up root.
    ///
    /// - Parameters:
    ///   - digest: of the key.
    ///   - directory: whose the key is.
    ///   - layout: where state lies.
    ///   - isFirst: whether a record that is bound already is refused.
    /// - Throws: ``SupervisorError``.
    public static func record(
        _ digest: String,
        of directory: String,
        _ layout: StateLayout,
        isFirst: Bool
    ) throws(SupervisorError) {
        let experiment = try Experiment.openToBind(directory)
        let row = Experiment.binding(digest, ownedBy: experiment.user)
        try OperatorRow.append(
            to: "bind a record to a directory",
            in: experiment,
            layout: layout,
            checking: { (reader) throws(SupervisorError) in
                guard isFirst else { return }
                try experiment.requireBound(in: reader, orNoDirectory: true)
            },
            { (_) throws(SupervisorError) in row }
        )
    }

    /// Writes the key into the directory, where only its owner can read it.
    ///
    /// - Throws: ``SupervisorError``.
    public func write() throws(SupervisorError) {
        let marker = ExperimentMarker(
            experiment: experiment.id,
            benchmarkDirectory: experiment.benchmarkDirectory,
            key: key
        )
        try system("write the experiment's key", directory) { () throws(SystemError) in
            let folder = try Descriptor.openWithoutLinks(directory, [.read, .directory])
            try folder.replace(ExperimentMarker.name, with: marker.bytes, permissions: 0o600)
            try folder.giveToOwner(ExperimentMarker.name)
        }
    }
}

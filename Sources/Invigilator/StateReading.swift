// Commands that look at an experiment without running it.
//
// The order is always the same: open the user's directory while we are root, become the supervisor's
// user, then open the record. What parses the record holds no right on the host, and what writes into
// a user's directory (see OwnProgram) never parses the record.

internal import HostKernel
package import IterationLoop
package import Ledger
internal import LinuxKernel
internal import Supervisor

extension StateOptions {
    /// The layout as a name; whether it can be read is shown by ``StateAccess``.
    var place: StateLayout { StateLayout(root: stateDirectory) }

    /// The option again, for our own program started a second time.
    var words: [String] { place.words }
}

extension StateLayout {
    /// The option that names it.
    fileprivate var words: [String] { ["--state-directory", root] }
}

/// The rights that reading state needs.
enum StateAccess {
    /// Becomes the supervisor's user where we are root, and shows that state can be read then.
    static func enter(_ layout: StateLayout) throws(SupervisorError) {
        let isRoot = Identity.effectiveUser == 0
        try requireReadable(layout.root)
        guard isRoot else { return }
        try Supervision.giveUpRights()
        do throws(SupervisorError) { try requireReadable(layout.root) } catch {
            throw SupervisorError(
                .usage,
                operation: "read the state",
                location: layout.root,
                reason: "the supervisor's user \(StateLayout.supervisor) cannot reach it",
                remedy: "keep state below directories that everybody may search, such as /var/lib"
            )
        }
    }

    private static func requireReadable(_ path: String) throws(SupervisorError) {
        do throws(SystemError) {
            _ = try Descriptor.open(path, [.read, .directory]).entries()
        } catch {
            throw refusal(error, path)
        }
    }

    private static func refusal(_ error: SystemError, _ path: String) -> SupervisorError {
        if error.isMissing {
            return SupervisorError(
                .usage,
                operation: "read the state",
                location: path,
                reason: "there is none yet",
                remedy:
                    "make an experiment with `invigilator init DIR --benchmark NAME`, as the same user"
            )
        }
        guard error.isRefused else { return SupervisorError(error, "read the state", path) }
        return SupervisorError(
            .usage,
            operation: "read the state",
            location: path,
            reason: "only root and the supervisor's user may (\(error.name))",
            remedy: "run the same command with `sudo`, or as the user whose state it is"
        )
    }
}

extension Experiment {
    /// The way of every command to the experiment of a directory; nothing of its record is shown yet.
    ///
    /// A record of an earlier version is bound to the directory first, where that is for its owner to say.
    static func found(
        _ directory: String,
        _ layout: StateLayout
    ) throws(SupervisorError) -> Experiment {
        let experiment = try open(directory)
        guard ExperimentBinding.isDue(experiment) else { return experiment }
        try LedgerBindCommand.bind(directory, layout, isFirst: true)
        return try open(directory)
    }

    /// The same, of a directory that its record is bound to, as a process shows that gave root up.
    static func proven(
        _ directory: String,
        _ layout: StateLayout
    ) throws(SupervisorError) -> Experiment {
        let experiment = try found(directory, layout)
        _ = try OwnProgram.output(of: ["ledger", "key", experiment.directory] + layout.words)
        return experiment
    }
}

/// The record of one experiment, open for reading by the supervisor's user.
///
/// Whatever shows something of a record begins here: a directory that the record is not bound to is refused.
struct RecordedExperiment {
    /// The user's side.
    let experiment: Experiment
    /// Where state lies.
    let layout: StateLayout
    /// The record.
    let reader: LedgerReader
    /// `experiment_config.yaml` as it lies in the directory now; absent when it cannot be read.
    let configuration: [UInt8]?

    /// Opens an experiment and its record; rights that are not needed any more are given up.
    init(_ directory: String, layout: StateLayout) throws(SupervisorError) {
        experiment = try Experiment.found(directory, layout)
        self.layout = layout
        configuration = Self.read(experiment)
        try StateAccess.enter(layout)
        do throws(LedgerError) {
            reader = try LedgerReader.open(at: layout.ledger(experiment.id))
        } catch {
            throw SupervisorError(reading: error)
        }
        try experiment.requireBound(in: reader)
    }

    // A person who broke the file sees so in `status`; the record is shown all the same.
    private static func read(_ experiment: Experiment) -> [UInt8]? {
        do throws(SystemError) {
            return try experiment.folder.contents(of: "experiment_config.yaml", limit: 1 << 20)
        } catch {
            return nil
        }
    }

    /// The rows in order.
    func entries() throws(SupervisorError) -> [LedgerEntry] {
        do throws(LedgerError) { return try reader.entries() } catch {
            throw SupervisorError(reading: error)
        }
    }

    /// Follows the chain.
    func verify(
        _ depth: VerificationDepth = .chain,
        publicKey: String? = nil
    ) throws(SupervisorError) -> VerificationReport {
        do throws(LedgerError) {
            return try reader.verify(depth: depth, publicKey: publicKey)
        } catch {
            throw SupervisorError(reading: error)
        }
    }

    /// Where the experiment stands.
    static func replay(_ entries: [LedgerEntry]) throws(SupervisorError) -> CampaignState {
        do throws(LoopError) {
            return try CampaignState(replaying: entries.map(RecordedRow.init(reading:)))
        } catch {
            throw SupervisorError(.integrity, error)
        }
    }
}

extension RecordedRow {
    /// A row as the loop reads it.
    package init(reading entry: LedgerEntry) {
        self.init(
            sequence: entry.sequence,
            time: Moment(milliseconds: entry.time),
            kind: entry.kind.rawValue,
            body: entry.body
        )
    }
}

extension SupervisorError {
    /// Adopts an error of a record that is only read: what is missing was named wrongly.
    init(reading error: LedgerError) {
        switch error {
        case .missing, .unsafeKey, .foreignKey: self.init(.usage, error)
        case .locked, .exists, .unknownFormat, .unknownKind, .damaged, .badBody, .storageFull,
            .storage, .exportRefused:
            self.init(error)
        }
    }
}

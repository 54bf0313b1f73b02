internal import HostKernel
internal import IterationLoop
internal import Ledger
internal import LinuxKernel

/// Rows that an operator adds while no run is on.
///
/// They are signed with the experiment's key, which the supervisor's user alone can read, and the ledger's
/// lock refuses them while a run is on.
enum OperatorRow {
    /// Verifies the record and appends a row to it.
    ///
    /// - Parameters:
    ///   - operation: what is done, for error texts.
    ///   - experiment: the experiment.
    ///   - layout: where its state lies.
    ///   - check: whether the record may be changed from this directory; nil for the usual rule.
    ///   - make: makes the row from where the experiment stands; nothing where there is none to append.
    /// - Returns: where the experiment stands then.
    /// - Throws: ``SupervisorError``.
    @discardableResult
    static func append(
        to operation: String,
        in experiment: Experiment,
        layout: StateLayout,
        checking check: ((LedgerReader) throws(SupervisorError) -> Void)? = nil,
        _ make: (CampaignState) throws(SupervisorError) -> LedgerEvent?
    ) throws(SupervisorError) -> CampaignState {
        try Supervision.giveUpRights()
        let ledger = try opened(operation, experiment, layout)
        if let check {
            try check(ledger.reader)
        } else {
            try experiment.requireBound(in: ledger.reader)
        }
        let entries = try ledgered { () throws(LedgerError) in
            try ledger.verify().requireIntact(location: layout.ledger(experiment.id))
            return try ledger.entries()
        }
        var state = try looped { () throws(LoopError) in
            try CampaignState(replaying: entries.map(RecordedRow.init))
        }
        if let event = try make(state) {
            guard let kind = EventKind(rawValue: event.kind) else {
                fatalError("every event of the loop has a kind of the ledger")
            }
            let entry = try ledgered { () throws(LedgerError) in
                try ledger.append(kind, event.body, time: WallClock.milliseconds)
            }
            try looped { () throws(LoopError) in try state.apply(RecordedRow(entry)) }
        }
        try ledgered { () throws(LedgerError) in try ledger.close() }
        return state
    }

    private static func opened(
        _ operation: String,
        _ experiment: Experiment,
        _ layout: StateLayout
    ) throws(SupervisorError) -> Ledger {
        do throws(LedgerError) {
            return try Ledger.open(
                at: layout.ledger(experiment.id),
                keyAt: layout.key(experiment.id)
            )
        } catch .locked {
            throw SupervisorError(
                .usage,
                operation: operation,
                location: experiment.directory,
                reason: "a run of this experiment is on",
                remedy: "end it with `invigilator stop`, or wait for its end"
            )
        } catch { throw SupervisorError(error) }
    }
}

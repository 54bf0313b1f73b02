internal import HostKernel
public import Ledger
internal import LinuxKernel

/// The operator's acts that give an experiment's record another key.
///
/// Each writes one row, which every verification follows. The ledger's lock refuses both while a run
/// or another such act is on.
public enum LedgerRekey {
    /// Lets the key sign its successor.
    ///
    /// - Parameters:
    ///   - experiment: the experiment.
    ///   - layout: where its state lies.
    /// - Returns: what was done.
    /// - Throws: ``SupervisorError``.
    public static func rotate(
        _ experiment: Experiment,
        _ layout: StateLayout
    ) throws(SupervisorError) -> LedgerRekeying {
        try Supervision.giveUpRights()
        try experiment.requireBound(in: layout)
        return try refused(experiment) { () throws(LedgerError) in
            try Ledger.rotateKey(
                of: layout.ledger(experiment.id),
                keyAt: layout.key(experiment.id),
                time: WallClock.milliseconds
            )
        }
    }

    /// Goes on with a new key where the old one is lost.
    ///
    /// - Parameters:
    ///   - experiment: the experiment.
    ///   - layout: where its state lies.
    ///   - reason: how it was lost; stands in the record.
    /// - Returns: what was done.
    /// - Throws: ``SupervisorError``.
    public static func replace(
        _ experiment: Experiment,
        _ layout: StateLayout,
        because reason: String
    ) throws(SupervisorError) -> LedgerRekeying {
        guard (1...1000).contains(reason.utf8.count) else {
            throw refusal(experiment, "a reason has 1 to 1,000 bytes", "say how the key was lost")
        }
        try Supervision.giveUpRights()
        // A record of an earlier version can be bound when it has a key again.
        try experiment.requireBound(in: layout, orNoDirectory: true)
        return try refused(experiment) { () throws(LedgerError) in
            do throws(LedgerError) {
                return try Ledger.replaceKey(
                    of: layout.ledger(experiment.id),
                    keyAt: layout.key(experiment.id),
                    because: reason,
                    time: WallClock.milliseconds
                )
            } catch .exists(let location) where location == layout.key(experiment.id) {
                return nil
            }
        }
    }

    private static func refused(
        _ experiment: Experiment,
        _ body: () throws(LedgerError) -> LedgerRekeying?
    ) throws(SupervisorError) -> LedgerRekeying {
        do throws(LedgerError) {
            if let done = try body() { return done }
        } catch .locked {
            throw refusal(
                experiment,
                "a run of this experiment is on, or another change of its key",
                "end it with `invigilator stop`, or wait for its end"
            )
        } catch { throw SupervisorError(error) }
        throw refusal(
            experiment,
            "the key is there, and is the one that the rows go on with",
            "use `invigilator ledger rotate-key`, which the old key signs"
        )
    }

    private static func refusal(
        _ experiment: Experiment,
        _ reason: String,
        _ remedy: String
    ) -> SupervisorError {
        SupervisorError(
            .usage,
            operation: "change the ledger's key",
            location: experiment.directory,
            reason: reason,
            remedy: remedy
        )
    }
}

// IterationLoop: what an iteration does, as a value; the shell beside it performs the actions.

/// Why a record or an event cannot be taken.
public enum LoopError: Error, Sendable, Equatable {
    /// The body of a row is not what its kind demands.
    case badRecord(kind: String, reason: String)
    /// A row contradicts the rows before it.
    case inconsistent(sequence: Int, kind: String, reason: String)
    /// The experiment lacks a row that running needs.
    case notPrepared(missing: String)
    /// An event that cannot happen in this phase; the machine is unchanged.
    case unexpected(event: String, phase: String)
}

extension LoopError: CustomStringConvertible {
    /// Operation, location, reason and remedy on one line.
    public var description: String {
        switch self {
        case .badRecord(let kind, let reason):
            "replay the ledger: a row of kind \(kind): \(reason); remedy: run «invigilator ledger"
                + " verify», and this version's program on this version's ledger"
        case .inconsistent(let sequence, let kind, let reason):
            "replay the ledger: row \(sequence), \(kind): \(reason); remedy: run «invigilator"
                + " ledger verify»"
        case .notPrepared(let missing):
            "begin to run: the ledger: there is no \(missing); remedy: run «invigilator prepare»"
        case .unexpected(let event, let phase):
            "take an event: \(event) while \(phase): it cannot happen there; remedy: report this"
        }
    }
}

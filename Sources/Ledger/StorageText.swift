// What the kernel and SQLite answered, in the words of the ledger. Nothing is stored or read here.

internal import HostKernel
internal import GRDB
internal import LinuxKernel

extension LedgerStore {
    /// An error in our words.
    static func inOurWords(
        _ error: any Error,
        operation: String,
        path: String
    ) -> LedgerError {
        if let error = error as? LedgerError { return error }
        guard let error = error as? DatabaseError else {
            return .storage(operation: operation, location: path, reason: "\(error)")
        }
        // The log's index is a file as well; SQLite reports that it could not grow as I/O error.
        if error.extendedResultCode == .SQLITE_IOERR_SHMSIZE {
            return .storageFull(operation: operation, location: path)
        }
        switch error.resultCode {
        case .SQLITE_FULL:
            return .storageFull(operation: operation, location: path)
        case .SQLITE_CORRUPT, .SQLITE_NOTADB:
            return .unknownFormat(location: path, reason: "SQLite finds the file damaged")
        default:
            let detail = error.message ?? error.resultCode.description
            return .storage(operation: operation, location: path, reason: detail)
        }
    }
}

extension LedgerError {
    /// Says in the ledger's words what the kernel answered.
    init(_ error: SystemError, operation: String, location: String) {
        self =
            error.isFull
            ? .storageFull(operation: operation, location: location)
            : .storage(operation: operation, location: location, reason: error.description)
    }
}

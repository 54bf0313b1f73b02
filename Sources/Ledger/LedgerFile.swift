internal import HostKernel
internal import LinuxKernel

/// The files of a ledger, looked at through descriptors alone.
enum LedgerFile {
    /// Refuses a path that names no regular file.
    ///
    /// It looks at the path and not at a descriptor: closing any descriptor of the database would
    /// drop the record locks that SQLite holds on it (fcntl(2), "Advisory record locking").
    static func requireRegular(_ path: String) throws(LedgerError) {
        let status: FileStatus
        do throws(SystemError) {
            status = try FileStatus(path: path)
        } catch {
            if error.isMissing { throw .missing(location: path) }
            throw LedgerError(error, operation: "open the ledger", location: path)
        }
        guard status.kind == .regular else {
            throw .unknownFormat(location: path, reason: "it is not a regular file")
        }
    }
}

internal import HostKernel
internal import LinuxKernel

/// The files beside the database, made and looked at through descriptors alone.
enum LedgerFile {
    /// Makes an empty file with mode 0600; refuses anything that has the name already.
    static func create(_ path: String, for operation: String) throws(LedgerError) -> Descriptor {
        do throws(SystemError) {
            return try Descriptor.open(path, [.write, .createNew])
        } catch {
            if error.isAlreadyThere { throw .exists(location: path) }
            throw LedgerError(error, operation: operation, location: path)
        }
    }

    /// Makes the file that SQLite will open; SQLite gives its log the same mode.
    static func createEmpty(_ path: String, for operation: String) throws(LedgerError) {
        let file = try create(path, for: operation)
        do throws(SystemError) {
            try file.synchronize()
        } catch {
            throw LedgerError(error, operation: operation, location: path)
        }
    }

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

    /// Removes what an unfinished creation left behind.
    static func remove(_ paths: [String]) throws(LedgerError) {
        for path in paths {
            let slash = path.lastIndex(of: "/")
            let name = slash.map { String(path[path.index(after: $0)...]) } ?? path
            let directory = slash.map { String(path[...$0]) } ?? "."
            do throws(SystemError) {
                try Descriptor.open(directory, [.path, .directory]).remove(name)
            } catch  where error.isMissing {
                continue
            } catch {
                throw LedgerError(error, operation: "create the ledger", location: path)
            }
        }
    }
}

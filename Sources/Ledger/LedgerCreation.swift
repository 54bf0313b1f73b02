// Makes an empty record. Whoever opens one looks at everything again: what kind of file it is, its tables
// and guards, mode and owner of the key, and that the key is the one that the rows go on with.

internal import HostKernel
internal import LinuxKernel

extension Ledger {
    /// Makes a new ledger and its signing key, and takes the lock.
    ///
    /// - Parameters:
    ///   - path: Where the database goes; its lock file is `path` with `.lock` appended.
    ///   - keyPath: Where the key goes, mode 0600; outside every sandbox.
    ///   - time: Now, in milliseconds since 1970; part of the ledger's identity.
    /// - Returns: The empty ledger.
    /// - Throws: ``LedgerError/exists(location:)`` when either file is there already.
    public static func create(
        at path: String,
        keyAt keyPath: String,
        time: Int64
    ) throws(LedgerError) -> Ledger {
        guard time >= 0 else {
            throw .badBody(location: path, reason: "the time \(time) lies before 1970")
        }
        let lock = try ProcessLock.take(at: path + ".lock")
        try LedgerFile.createEmpty(path, for: "create the ledger")
        do throws(LedgerError) {
            let key = try SigningKey.create(at: keyPath)
            do throws(LedgerError) {
                let identity = LedgerIdentity(created: time, publicKey: key.publicKey)
                let store = try LedgerStore.create(inFileAt: path, identity: identity)
                return try Ledger(store: store, key: key, lock: lock)
            } catch {
                try LedgerFile.remove([keyPath])
                throw error
            }
        } catch {
            // The file is ours and holds no record: a second attempt may start afresh.
            try LedgerFile.remove(["", "-wal", "-shm"].map { path + $0 })
            throw error
        }
    }
}

extension LedgerFile {
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

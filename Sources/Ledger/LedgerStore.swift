// Why WAL with synchronous = FULL:
//   * A commit is durable after one fsync of the log. A rollback journal would need
//     synchronous = EXTRA for the same promise, because a journal whose unlinking was lost in a
//     power cut takes the last commit back.
//   * A reader (`status`, `report`, `ledger export` from another terminal) sees a snapshot and
//     never blocks the supervisor, which has one thread.
//   * A half-written frame fails its checksum and is ignored at the next opening, so a row is
//     there whole or not at all.
// The setting is read back after each opening.

internal import FoundationEssentials
internal import GRDB

/// Who signed a ledger and when it was made.
struct LedgerIdentity: Equatable {
    var created: Int64
    var publicKey: [UInt8]

    /// What the first row carries as its `previous`.
    var origin: [UInt8] { ChainEncoding.origin(created: created, publicKey: publicKey) }
}

/// The SQLite file: rows in, rows out, errors in our words.
struct LedgerStore {
    let path: String
    private let queue: DatabaseQueue

    /// Gives the empty file at `path` the newest schema and its identity.
    static func create(
        inFileAt path: String,
        identity: LedgerIdentity
    ) throws(LedgerError) -> LedgerStore {
        let store = try LedgerStore(at: path, readOnly: false)
        try store.migrate()
        try store.write("create the ledger") { database in
            try database.execute(
                sql: "INSERT INTO identity (only, created, public_key) VALUES (1, ?, ?)",
                arguments: [identity.created, Data(identity.publicKey)]
            )
        }
        return store
    }

    /// Opens an existing file and brings it to the newest schema when it may write.
    static func open(at path: String, readOnly: Bool) throws(LedgerError) -> LedgerStore {
        try LedgerFile.requireRegular(path)
        let store = try LedgerStore(at: path, readOnly: readOnly)
        try store.requireKnownFormat()
        // Whoever only looks is shown a tampered file too, so that it can be examined.
        if readOnly { return store }
        try store.migrate()
        let missing = try store.read("open the ledger", LedgerSchema.missingGuard)
        if let missing {
            throw .unknownFormat(location: path, reason: "the guard '\(missing)' is not in place")
        }
        return store
    }

    private init(at path: String, readOnly: Bool) throws(LedgerError) {
        var configuration = Configuration()
        configuration.readonly = readOnly
        configuration.journalMode = .wal
        configuration.busyMode = .timeout(5)
        configuration.label = "ledger"
        configuration.prepareDatabase { database in
            try database.execute(sql: "PRAGMA trusted_schema = OFF")
            try database.execute(sql: "PRAGMA cell_size_check = ON")
        }
        self.path = path
        do {
            queue = try DatabaseQueue(path: path, configuration: configuration)
            guard !readOnly else { return }
            let mode = try queue.inDatabase { database in
                try database.execute(sql: "PRAGMA synchronous = FULL")
                return try Int.fetchOne(database, sql: "PRAGMA synchronous")
            }
            guard mode == 2 else {
                throw LedgerError.unknownFormat(
                    location: path,
                    reason: "SQLite did not accept synchronous = FULL"
                )
            }
        } catch {
            throw Self.inOurWords(error, operation: "open the ledger", path: path)
        }
    }

    /// Runs `body` on a snapshot.
    func read<Value>(
        _ operation: String,
        _ body: (Database) throws -> Value
    ) throws(LedgerError) -> Value {
        do {
            return try queue.read(body)
        } catch {
            throw Self.inOurWords(error, operation: operation, path: path)
        }
    }

    /// Runs `body` in one transaction that is on the disk when this returns.
    func write<Value>(
        _ operation: String,
        _ body: (Database) throws -> Value
    ) throws(LedgerError) -> Value {
        do {
            return try queue.write(body)
        } catch {
            throw Self.inOurWords(error, operation: operation, path: path)
        }
    }

    /// Closes the file; later calls fail.
    func close() throws(LedgerError) {
        do {
            try queue.close()
        } catch {
            throw Self.inOurWords(error, operation: "close the ledger", path: path)
        }
    }

    private func migrate() throws(LedgerError) {
        do {
            try LedgerSchema.migrator.migrate(queue)
        } catch {
            throw Self.inOurWords(error, operation: "migrate the ledger", path: path)
        }
    }

    private func requireKnownFormat() throws(LedgerError) {
        let (isOurs, isNewer) = try read("open the ledger") { database in
            let number = try Int.fetchOne(database, sql: "PRAGMA application_id")
            guard number == LedgerSchema.applicationID else { return (false, false) }
            return (true, try LedgerSchema.migrator.hasBeenSuperseded(database))
        }
        guard isOurs else {
            throw .unknownFormat(location: path, reason: "the file is not a ledger")
        }
        guard !isNewer else {
            throw .unknownFormat(location: path, reason: "its schema is newer than this program")
        }
    }
}

extension LedgerStore {
    private static let columns = "sequence, time, kind, body, previous, hash, signature"

    /// The identity record.
    func identity() throws(LedgerError) -> LedgerIdentity {
        let found = try read("open the ledger") { database in
            try Row.fetchOne(database, sql: "SELECT created, public_key FROM identity")
                .map { LedgerIdentity(created: $0["created"], publicKey: bytes($0["public_key"])) }
        }
        guard let found else {
            throw .unknownFormat(location: path, reason: "it has no identity record")
        }
        return found
    }

    /// The newest row of those that a condition names.
    func last(in database: Database, where condition: String = "true") throws -> SealedRow? {
        try Row.fetchOne(
            database,
            sql:
                "SELECT \(Self.columns) FROM entry WHERE \(condition) ORDER BY sequence DESC LIMIT 1"
        ).map(sealedRow)
    }

    /// Calls `visit` with each row after number `sequence`, in order.
    func forEachRow(
        after sequence: Int64,
        in database: Database,
        _ visit: (SealedRow) throws -> Void
    ) throws {
        let rows = try Row.fetchCursor(
            database,
            sql: "SELECT \(Self.columns) FROM entry WHERE sequence > ? ORDER BY sequence",
            arguments: [sequence]
        )
        while let row = try rows.next() { try visit(sealedRow(row)) }
    }

    /// Adds a row; the guards of the schema refuse any number but the next.
    func insert(_ row: SealedRow, in database: Database) throws {
        try database.execute(
            sql: "INSERT INTO entry (\(Self.columns)) VALUES (?, ?, ?, ?, ?, ?, ?)",
            arguments: [
                row.sequence, row.time, row.kind, Data(row.body), Data(row.previous),
                Data(row.hash), Data(row.signature),
            ]
        )
    }

    private func sealedRow(_ row: Row) -> SealedRow {
        SealedRow(
            sequence: row["sequence"],
            time: row["time"],
            kind: row["kind"],
            body: bytes(row["body"]),
            previous: bytes(row["previous"]),
            hash: bytes(row["hash"]),
            signature: bytes(row["signature"])
        )
    }

    private func bytes(_ data: Data) -> [UInt8] { Array(data) }
}

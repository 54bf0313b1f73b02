internal import GRDB

/// The tables, their guards and their versions.
///
/// A later version adds a migration below and never changes one that was released. The guards
/// stop mistakes and ordinary tools; who can rewrite the file can remove them, which the chain
/// and the signatures show.
enum LedgerSchema {
    /// "Invi" as a 32-bit number: tells our files from other SQLite files.
    static let applicationID = 0x496e_7669

    static let entryTable = """
        CREATE TABLE entry (
            sequence INTEGER PRIMARY KEY CHECK (sequence > 0),
            time INTEGER NOT NULL CHECK (time >= 0),
            kind TEXT NOT NULL CHECK (length(kind) BETWEEN 1 AND 40),
            body BLOB NOT NULL,
            previous BLOB NOT NULL CHECK (length(previous) = 32),
            hash BLOB NOT NULL CHECK (length(hash) = 32),
            signature BLOB NOT NULL CHECK (length(signature) = 64)
        ) STRICT
        """

    static let identityTable = """
        CREATE TABLE identity (
            only INTEGER PRIMARY KEY CHECK (only = 1),
            created INTEGER NOT NULL CHECK (created >= 0),
            public_key BLOB NOT NULL CHECK (length(public_key) = 32)
        ) STRICT
        """

    /// Names and texts of the guards, compared with the file's own at each opening.
    static let triggers: [String: String] = [
        "entry_is_never_changed": refuse("UPDATE ON entry", "a ledger row is never changed"),
        "entry_is_never_deleted": refuse("DELETE ON entry", "a ledger row is never deleted"),
        // An insert that would replace a row deletes without firing the guard above, so the
        // only number that may be inserted is the next one.
        "entry_is_only_appended": """
        CREATE TRIGGER entry_is_only_appended BEFORE INSERT ON entry
        WHEN NEW.sequence IS NOT (SELECT coalesce(max(sequence), 0) + 1 FROM entry)
        BEGIN SELECT RAISE(ABORT, 'a ledger row is only appended'); END
        """,
        "identity_is_never_changed": refuse("UPDATE ON identity", "the identity is never changed"),
        "identity_is_never_deleted": refuse("DELETE ON identity", "the identity is never deleted"),
        "identity_is_only_one": """
        CREATE TRIGGER identity_is_only_one BEFORE INSERT ON identity
        WHEN EXISTS (SELECT 1 FROM identity)
        BEGIN SELECT RAISE(ABORT, 'there is only one identity'); END
        """,
    ]

    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1") { database in
            try database.execute(sql: "PRAGMA application_id = \(applicationID)")
            try database.execute(sql: identityTable)
            try database.execute(sql: entryTable)
            for name in triggers.keys.sorted() {
                try database.execute(sql: triggers[name, default: ""])
            }
        }
        return migrator
    }

    /// Names what is missing from the guards, or nothing.
    static func missingGuard(in database: Database) throws -> String? {
        let rows = try Row.fetchAll(
            database,
            sql: "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'"
        )
        var found: [String: String] = [:]
        for row in rows { found[row["name"]] = row["sql"] }
        return triggers.keys.sorted().first { found[$0] != triggers[$0] }
    }

    private static func refuse(_ event: String, _ message: String) -> String {
        let table = event.hasSuffix("entry") ? "entry" : "identity"
        let verb = event.hasPrefix("UPDATE") ? "changed" : "deleted"
        return "CREATE TRIGGER \(table)_is_never_\(verb) BEFORE \(event) "
            + "BEGIN SELECT RAISE(ABORT, '\(message)'); END"
    }
}

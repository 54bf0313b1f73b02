// What a forger does to a record: SQL on a copy of the database, lines of an export. Nothing here
// uses the ledger's own code, which a forger need not.

internal import FoundationEssentials
internal import GRDB
internal import RedTeam
internal import SandboxPlan
internal import StrictJSON

/// Changes of a record.
enum Forgery {
    /// A change of the rows, with the guards off.
    typealias RowChange = @Sendable (Database) throws -> Void

    /// The verdict, changed.
    static let edit: RowChange = { database in
        try database.execute(
            sql: "UPDATE entry SET body = CAST(replace(CAST(body AS TEXT), ?, ?) AS BLOB)"
                + " WHERE sequence = ?",
            arguments: [RedTeamRecord.refused, RedTeamRecord.wanted, RedTeamRecord.target]
        )
    }

    /// Changes of the database, by the attack's name.
    static let ofRows: [String: RowChange] = [
        "edit-behind-guards": edit,
        "rehash-row": { database in
            try edit(database)
            try rechain(database, from: RedTeamRecord.target)
        },
        "drop-row": { try $0.execute(sql: "DELETE FROM entry WHERE sequence = 3") },
        "drop-and-renumber": { database in
            try database.execute(sql: "DELETE FROM entry WHERE sequence = 3")
            for number in 4...6 { try renumber(database, number, to: number - 1) }
        },
        "swap-rows": { database in
            try renumber(database, 3, to: 9)
            try renumber(database, 5, to: 3)
            try renumber(database, 9, to: 5)
        },
        "repeat-row": { database in try append(database, repeating: 5, signature: "signature") },
        "append-unsigned": { database in
            try append(database, repeating: 5, signature: "zeroblob(64)")
            try rechain(database, from: 7)
        },
        "cut-tail": { try $0.execute(sql: "DELETE FROM entry WHERE sequence > 4") },
    ]

    /// Changes of an export, by the attack's name.
    static let ofExports: [String: @Sendable ([UInt8]) -> [UInt8]] = [
        "cut-export": { joined(lines($0).dropLast(2)) },
        "shorten-export": { export in
            let lines = lines(export)
            return joined(lines.dropLast(2) + lines.suffix(1))
        },
        "recount-export": { export in
            let lines = lines(export)
            let footer = lines.suffix(1).map {
                $0.replacing("\"count\":6", with: "\"count\":5")
            }
            return joined(lines.dropLast(2) + footer)
        },
        "extend-export": { export in
            let lines = lines(export)
            return joined(lines + [lines[lines.count - 2]])
        },
    ]

    // MARK: - SQL

    /// Changes rows with the guards off, and puts the guards back.
    static func alter(_ path: String, _ change: RowChange) throws {
        let queue = try DatabaseQueue(path: path)
        try queue.write { database in
            let guards = try guardTexts(database)
            try dropGuards(database)
            try change(database)
            for text in guards { try database.execute(sql: text) }
        }
        try queue.close()
    }

    /// Takes the guards off.
    static func removeGuards(at path: String) throws {
        let queue = try DatabaseQueue(path: path)
        try queue.write(dropGuards)
        try queue.close()
    }

    /// What the database answers to a change; nothing where it takes it.
    static func refusal(of change: RowChange, at path: String) -> String? {
        do {
            let queue = try DatabaseQueue(path: path)
            try queue.write(change)
            try queue.close()
            return nil
        } catch {
            return (error as? DatabaseError)?.message ?? "\(error)"
        }
    }

    private static func guardTexts(_ database: Database) throws -> [String] {
        try String.fetchAll(database, sql: "SELECT sql FROM sqlite_master WHERE type = 'trigger'")
    }

    private static func dropGuards(_ database: Database) throws {
        let names = try String.fetchAll(
            database,
            sql: "SELECT name FROM sqlite_master WHERE type = 'trigger'"
        )
        for name in names { try database.execute(sql: "DROP TRIGGER \(name)") }
    }

    private static func renumber(_ database: Database, _ number: Int, to other: Int) throws {
        try database.execute(
            sql: "UPDATE entry SET sequence = ? WHERE sequence = ?",
            arguments: [other, number]
        )
    }

    private static func append(
        _ database: Database,
        repeating number: Int,
        signature: String
    ) throws {
        try database.execute(
            sql: "INSERT INTO entry SELECT 7, time, kind, body, previous, hash, \(signature)"
                + " FROM entry WHERE sequence = ?",
            arguments: [number]
        )
    }

    // MARK: - the chain, as ARCHITECTURE.md has it

    // Computes links and hashes of the rows from a number on; the signatures stay, for want of a key.
    private static func rechain(_ database: Database, from first: Int) throws {
        let rows = try Row.fetchAll(database, sql: "SELECT * FROM entry ORDER BY sequence")
        var previous = Data()
        for row in rows {
            let (sequence, signature): (Int, Data) = (row["sequence"], row["signature"])
            var hash: Data = row["hash"]
            if sequence >= first {
                hash = Data(hashed(row, after: previous))
                try database.execute(
                    sql: "UPDATE entry SET previous = ?, hash = ? WHERE sequence = ?",
                    arguments: [previous, hash, sequence]
                )
            }
            let seal = Array("invigilator.ledger.seal/1\0".utf8) + hash + signature
            previous = Data(SHA256Digest(of: seal).bytes)
        }
    }

    private static func hashed(_ row: Row, after previous: Data) -> [UInt8] {
        let (sequence, time): (Int64, Int64) = (row["sequence"], row["time"])
        let (kind, body): (String, Data) = (row["kind"], row["body"])
        var bytes = Array("invigilator.ledger.row/1\0".utf8)
        bytes += number(sequence) + number(time)
        bytes += number(Int64(kind.utf8.count)) + Array(kind.utf8)
        bytes += number(Int64(body.count)) + Array(body) + Array(previous)
        return SHA256Digest(of: bytes).bytes
    }

    private static func number(_ value: Int64) -> [UInt8] {
        stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: value >> $0) }
    }

    // MARK: - lines

    private static func lines(_ bytes: [UInt8]) -> [String] {
        bytes.split(separator: 10).map { String(decoding: $0, as: UTF8.self) }
    }

    private static func joined(_ lines: some Collection<String>) -> [UInt8] {
        Array(lines.map { $0 + "\n" }.joined().utf8)
    }

    /// The rows of an export as a reader sees them that takes whatever parses.
    static func looseRows(of export: [UInt8]) -> [JSONValue] {
        lines(export).compactMap { line in
            // What does not parse is no row to such a reader.
            (try? JSONValue(parsing: Array(line.utf8), limits: .document))?["body"]
        }
    }
}

internal import ArgumentParser
package import Ledger
package import StrictJSON
internal import Supervisor

/// `ledger`.
struct LedgerCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ledger",
        abstract: "Read, export and verify the record of an experiment.",
        subcommands: [
            LedgerShowCommand.self, LedgerExportCommand.self, LedgerVerifyCommand.self,
            LedgerCheckpointCommand.self, LedgerProveCommand.self, LedgerKeyCommand.self,
            LedgerRevealCommand.self, LedgerBindCommand.self,
            LedgerRotateKeyCommand.self, LedgerReplaceKeyCommand.self,
            KeptCheckpointCommand.self, PublisherCommand.self, NotifierCommand.self,
        ]
    )
}

/// `ledger show`.
struct LedgerShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Print the rows of the record, one line each.",
        discussion: """
            Rows are shown as they stand; `ledger verify` says whether they are as they were written.
            """
    )

    @Flag(help: "Print the rows for programs.")
    var json = false

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp(
            "Only rows of this kind; may be given several times.",
            valueName: "kind"
        ),
        transform: Self.kind(named:)
    )
    var kind: [EventKind] = []

    @Option(help: ArgumentHelp("Only rows after this number.", valueName: "row"))
    var after = 0

    @OptionGroup var options: ExperimentOptions

    func run() throws {
        let record = try RecordedExperiment(options.directory, layout: options.state.place)
        let rows = try record.entries().filter { entry in
            entry.sequence > after && (kind.isEmpty || kind.contains(entry.kind))
        }
        let shown = LedgerRows(rows)
        try json ? Console.write(shown.json) : Console.write(shown.text)
    }

    private static func kind(named name: String) throws -> EventKind {
        guard let kind = EventKind(rawValue: name) else {
            let names = EventKind.allCases.map(\.rawValue).sorted().joined(separator: ", ")
            throw ValidationError("There is no kind '\(name)'; the kinds are \(names).")
        }
        return kind
    }
}

/// Rows of a ledger for people and programs.
package struct LedgerRows {
    /// The version of ``json``'s shape.
    package static let schema = "invigilator.ledger-rows/1"

    private let rows: [LedgerEntry]

    package init(_ rows: [LedgerEntry]) {
        self.rows = rows
    }

    /// One line a row: number, time, kind, and the members of the body in short.
    package var text: String {
        var table = TextTable()
        for row in rows {
            table.add([
                "\(row.sequence)", ClockText.text(row.time), row.kind.rawValue,
                Self.summary(of: row.body),
            ])
        }
        return table.lines(indent: "").map { $0 + "\n" }.joined()
    }

    /// The rows for programs.
    package var json: JSONValue {
        let entries = rows.map { row -> JSONValue in
            [
                "sequence": JSONValue(row.sequence), "time": .integer(row.time),
                "kind": .string(row.kind.rawValue), "body": row.body,
                "hash": .string(row.hash.hex),
            ]
        }
        return ["schema": .string(Self.schema), "rows": .array(entries)]
    }

    // Agents write parts of bodies, so nothing of a text may steer the terminal.
    private static func summary(of body: JSONValue) -> String {
        let members = (body.objectValue ?? [:]).sorted { $0.key < $1.key }
        let parts = members.map { "\($0.key)=\(short($0.value))" }
        return SafeText.cleaned(parts.joined(separator: " "), atMost: 400)
    }

    private static func short(_ value: JSONValue) -> String {
        switch value {
        case .string(let text): isDigest(text) ? "\(text.prefix(12))…" : quoted(text)
        case .array(let items): "[\(items.count)]"
        case .object(let members): "{\(members.count)}"
        case .null, .bool, .integer, .number: String(decoding: value.canonicalBytes, as: UTF8.self)
        }
    }

    private static func quoted(_ text: String) -> String {
        text.contains(" ") || text.isEmpty ? "'\(text)'" : text
    }

    private static func isDigest(_ text: String) -> Bool {
        [40, 64].contains(text.utf8.count)
            && text.utf8.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
    }
}

/// `ledger export`.
struct LedgerExportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write the whole record to standard output, ending in a signed footer.",
        discussion: """
            The export is verified anywhere with `invigilator ledger verify FILE`, without this host, \
            its state directory or the network. Keep one elsewhere: it shows later whether rows were \
            cut off.
            """
    )

    @OptionGroup var options: ExperimentOptions

    func run() throws {
        let record = try RecordedExperiment(options.directory, layout: options.state.place)
        do throws(LedgerError) {
            try record.reader.export(
                signedWithKeyAt: record.layout.key(record.experiment.id),
                to: { bytes in try Console.write(bytes) }
            )
        } catch {
            throw SupervisorError(reading: error)
        }
    }
}

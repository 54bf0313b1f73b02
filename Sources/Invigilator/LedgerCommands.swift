internal import HostKernel
internal import ArgumentParser
package import Ledger
internal import LinuxKernel
package import StrictJSON
internal import Supervisor

/// `ledger`.
struct LedgerCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ledger",
        abstract: "Read, export and verify the record of an experiment.",
        subcommands: [
            LedgerShowCommand.self, LedgerExportCommand.self, LedgerVerifyCommand.self,
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

/// `ledger verify`.
struct LedgerVerifyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract:
            "Prove that a record is whole and was signed by its key, or name the first bad row.",
        discussion: """
            FILE is an export, which needs neither root nor this host (`-` for standard input), a \
            ledger's database, or an experiment's directory, whose live record is then verified. Without --public-key an \
            export proves that it is whole and was signed by the key that it names itself.

            Exit code 4 when anything is wrong.
            """
    )

    @Argument(help: "An export, a database or an experiment's directory.")
    var file = "."

    @Option(help: ArgumentHelp("The key that must have signed it.", valueName: "hex"))
    var publicKey: String?

    @Option(
        help: ArgumentHelp(
            "A row that was seen earlier, as `verify` printed it: its number and head.",
            valueName: "count:head"
        )
    )
    var witness: String?

    @Flag(help: "Check the signature of every row, not only hashes, links and the last signature.")
    var everySignature = false

    @Flag(help: "Print the result for programs.")
    var json = false

    @OptionGroup var state: StateOptions

    func validate() throws {
        if let publicKey, LedgerDigest(hex: publicKey) == nil {
            throw ValidationError("A public key has 64 lower-case hexadecimal digits.")
        }
        if witness != nil, readWitness == nil {
            throw ValidationError("A witness is written as COUNT:HEAD, such as 12:9f… (64 digits).")
        }
    }

    func run() throws {
        let report = try verified()
        let finding = VerificationFinding(report)
        try json ? Console.write(finding.json) : Console.write(finding.text)
        guard let fault = report.fault else { return }
        throw SupervisorError(LedgerError.damaged(location: file, fault: fault))
    }

    private var readWitness: LedgerWitness? {
        let parts = (witness ?? "").split(separator: ":")
        guard parts.count == 2, let count = Int(parts[0]), count > 0,
            let head = LedgerDigest(hex: String(parts[1]))
        else { return nil }
        return LedgerWitness(count: count, head: head)
    }

    private func verified() throws(SupervisorError) -> VerificationReport {
        let depth: VerificationDepth = everySignature ? .everySignature : .chain
        if file == "-" { return try verifiedInput(depth) }
        if isDirectory {
            let record = try RecordedExperiment(file, layout: state.place)
            return try verify(record.reader, depth)
        }
        if try isDatabase() { return try verify(database(), depth) }
        do throws(LedgerError) {
            return try Ledger.verifyExport(
                atPath: file,
                publicKey: publicKey,
                depth: depth,
                witness: readWitness
            )
        } catch {
            throw SupervisorError(reading: error)
        }
    }

    private func verify(
        _ reader: LedgerReader,
        _ depth: VerificationDepth
    ) throws(SupervisorError) -> VerificationReport {
        guard publicKey == nil || publicKey == reader.publicKey else {
            throw SupervisorError(
                .integrity,
                operation: "verify the ledger",
                location: file,
                reason: "it belongs to the key \(reader.publicKey)",
                remedy: "do not trust it; compare it with an export that you kept"
            )
        }
        do throws(LedgerError) {
            return try reader.verify(depth: depth, witness: readWitness)
        } catch {
            throw SupervisorError(reading: error)
        }
    }

    private func verifiedInput(
        _ depth: VerificationDepth
    ) throws(SupervisorError) -> VerificationReport {
        let bytes = try kernel("verify a record", "standard input") { () throws(SystemError) in
            try Descriptor.copy(ofInherited: 0).readAll(limit: 1 << 30)
        }
        return Ledger.verifyExport(
            bytes,
            publicKey: publicKey,
            depth: depth,
            witness: readWitness
        )
    }

    private var isDirectory: Bool {
        do throws(SystemError) {
            _ = try Descriptor.resolvedPath(file)
            return true
        } catch {
            // What is no directory is opened as a file, and the error of that is shown.
            return false
        }
    }

    private func database() throws(SupervisorError) -> LedgerReader {
        do throws(LedgerError) { return try LedgerReader.open(at: file) } catch {
            throw SupervisorError(reading: error)
        }
    }

    // The first bytes of every SQLite 3 file (sqlite.org/fileformat2.html, section 1.3).
    private func isDatabase() throws(SupervisorError) -> Bool {
        try kernel("verify a record", file) { () throws(SystemError) in
            let start = try Descriptor.open(file, [.read, .nonBlocking]).read(atMost: 16)
            return start == Array("SQLite format 3".utf8) + [0]
        }
    }
}

/// What a verification found, for people and programs.
package struct VerificationFinding {
    /// The version of ``json``'s shape.
    package static let schema = "invigilator.ledger-verification/1"

    private let report: VerificationReport

    package init(_ report: VerificationReport) {
        self.report = report
    }

    /// Two or three lines.
    package var text: String {
        var lines = [
            report.isIntact
                ? "intact: \(report.count) rows"
                : "damaged: \(report.count) rows are good, then: "
                    + "\(report.fault?.description ?? "")",
            "witness \(report.count):\(report.head)",
        ]
        if !report.publicKey.isEmpty { lines.append("public key \(report.publicKey)") }
        return lines.map { $0 + "\n" }.joined()
    }

    /// The finding for programs.
    package var json: JSONValue {
        [
            "schema": .string(Self.schema), "intact": .bool(report.isIntact),
            "rows": JSONValue(report.count), "head": .string(report.head.hex),
            "public_key": .string(report.publicKey), "depth": .string(report.depth.rawValue),
            "signatures_checked": JSONValue(report.signaturesChecked),
            "fault": report.fault.map { fault in
                [
                    "location": .string("\(fault.location)"), "reason": .string("\(fault.reason)"),
                ]
            } ?? .null,
        ]
    }
}

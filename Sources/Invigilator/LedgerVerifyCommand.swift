internal import ArgumentParser
package import Ledger
package import StrictJSON
internal import Supervisor
package import Transparency

/// `ledger verify`.
struct LedgerVerifyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract:
            "Prove that a record is whole and was signed by its key, or name the first bad row.",
        discussion: """
            FILE is an export, which needs neither root nor this host (`-` for standard input), a \
            ledger's database, or an experiment's directory, whose live record is then verified. Without --public-key an \
            export proves that it is whole and was signed by the key that it names itself. Of a record \
            whose key was changed, --public-key may name any of its keys; a key that was replaced \
            because it was lost vouches for nothing after that.

            A record that was put back to an older state, or written anew by who has its key, is whole: \
            only a checkpoint that was kept elsewhere shows it.

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

    @Option(
        help: ArgumentHelp(
            "A checkpoint of it that was kept elsewhere, which it must continue; `-` for standard input.",
            valueName: "file"
        )
    )
    var checkpoint: String?

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
        guard checkpoint != "-" || file != "-" else {
            throw ValidationError("Only one of both can come from standard input.")
        }
    }

    func run() throws {
        let kept = try checkpoint.map(CheckpointFile.bytes)
        let source = try LedgerSource.open(file, layout: state.place, isKept: kept != nil)
        let report = try source.report(
            LedgerExpectation(
                location: file,
                publicKey: publicKey,
                depth: everySignature ? .everySignature : .chain,
                witness: readWitness
            )
        )
        var comparison: CheckpointComparison?
        if let kept, report.isIntact {
            comparison = CheckpointComparison(
                of: kept,
                with: try source.tree(ofRows: report.count),
                signedBy: try VerifiedLedger.noteKeys(report, location: file)
            )
        }
        let finding = VerificationFinding(report, checkpoint: comparison)
        try json ? Console.write(finding.json) : Console.write(finding.text)
        if let fault = report.fault {
            throw SupervisorError(LedgerError.damaged(location: file, fault: fault))
        }
        try comparison?.requireContinued(location: checkpoint ?? "", ledger: file)
        if publicKey == nil, let fault = LedgerKeysText.breakFault(report) {
            throw SupervisorError(
                .integrity,
                operation: "verify the ledger",
                location: file,
                reason: fault,
                remedy: LedgerKeysText.breakRemedy
            )
        }
    }

    private var readWitness: LedgerWitness? {
        let parts = (witness ?? "").split(separator: ":")
        guard parts.count == 2, let count = Int(parts[0]), count > 0,
            let head = LedgerDigest(hex: String(parts[1]))
        else { return nil }
        return LedgerWitness(count: count, head: head)
    }
}

/// What a ledger must be.
struct LedgerExpectation {
    /// What it was called on the command line.
    let location: String
    /// The key that must have signed it.
    var publicKey: String?
    /// How much is checked.
    var depth = VerificationDepth.chain
    /// A row that was seen earlier.
    var witness: LedgerWitness?
}

extension LedgerSource {
    /// Verifies the ledger.
    func report(_ expected: LedgerExpectation) throws(SupervisorError) -> VerificationReport {
        do throws(LedgerError) {
            switch self {
            case .database(let reader):
                return try reader.verify(
                    depth: expected.depth,
                    witness: expected.witness,
                    publicKey: expected.publicKey
                )
            case .export(let bytes):
                return Ledger.verifyExport(
                    bytes,
                    publicKey: expected.publicKey,
                    depth: expected.depth,
                    witness: expected.witness
                )
            case .file(let path):
                return try Ledger.verifyExport(
                    atPath: path,
                    publicKey: expected.publicKey,
                    depth: expected.depth,
                    witness: expected.witness
                )
            }
        } catch {
            throw SupervisorError(reading: error)
        }
    }
}

/// A ledger held against a checkpoint of it that was kept elsewhere.
package struct CheckpointComparison {
    private enum Outcome {
        case unread(NoteError)
        case departs(Checkpoint, CheckpointFault)
        case continues(Checkpoint)
    }

    private let outcome: Outcome

    /// Compares.
    ///
    /// - Parameters:
    ///   - note: the checkpoint, as it was signed.
    ///   - tree: the tree over the ledger's rows, which were verified.
    ///   - keys: the ledger's keys, the newest one last.
    package init(of note: [UInt8], with tree: MerkleTree, signedBy keys: [NoteKey]) {
        do throws(NoteError) {
            let kept = try Checkpoint(verifying: note, signedByOneOf: keys)
            outcome = kept.fault(in: tree).map { .departs(kept, $0) } ?? .continues(kept)
        } catch {
            outcome = .unread(error)
        }
    }

    /// What is wrong; nothing where the ledger continues the checkpoint.
    package var fault: String? {
        switch outcome {
        case .unread(let error): "\(error)"
        case .departs(_, let fault): "\(fault)"
        case .continues: nil
        }
    }

    /// One line for people.
    var text: String {
        switch outcome {
        case .continues(let kept): "continues the checkpoint of \(kept.size) rows"
        case .unread, .departs: "checkpoint: \(fault ?? "")"
        }
    }

    /// The comparison for programs.
    var json: JSONValue {
        let kept: Checkpoint? =
            switch outcome {
            case .unread: nil
            case .departs(let kept, _), .continues(let kept): kept
            }
        return [
            "continued": .bool(fault == nil), "fault": fault.map { .string($0) } ?? .null,
            "size": kept.map { JSONValue($0.size) } ?? .null,
            "root": kept.map { .string($0.root.hex) } ?? .null,
        ]
    }

    func requireContinued(location: String, ledger: String) throws(SupervisorError) {
        switch outcome {
        case .continues: return
        case .unread(let error): throw SupervisorError(checkpoint: error, location: location)
        case .departs(_, let fault):
            throw SupervisorError(checkpoint: fault, location: "\(ledger) and \(location)")
        }
    }
}

/// What a verification found, for people and programs.
package struct VerificationFinding {
    /// The version of ``json``'s shape.
    package static let schema = "invigilator.ledger-verification/1"

    private let report: VerificationReport
    private let checkpoint: CheckpointComparison?

    /// What was found.
    ///
    /// - Parameters:
    ///   - report: of the rows.
    ///   - checkpoint: of a checkpoint that they were held against, if there was one.
    package init(_ report: VerificationReport, checkpoint: CheckpointComparison? = nil) {
        self.report = report
        self.checkpoint = checkpoint
    }

    /// Two to four lines.
    package var text: String {
        var lines = [
            report.isIntact
                ? "intact: \(report.count) rows"
                : "damaged: \(report.count) rows are good, then: "
                    + "\(report.fault?.description ?? "")",
            "witness \(report.count):\(report.head)",
        ]
        if !report.publicKey.isEmpty { lines.append("public key \(report.publicKey)") }
        lines += LedgerKeysText.lines(report)
        if let checkpoint { lines.append(checkpoint.text) }
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
            "keys": .array(
                report.keys.map { key in
                    [
                        "public_key": .string(key.publicKey), "after_row": JSONValue(key.row),
                        "vouched_for": .bool(key.isVouchedFor),
                    ]
                }
            ),
            "checkpoint": checkpoint?.json ?? .null,
        ]
    }
}

internal import ArgumentParser
internal import CheckReports
internal import LinuxKernel
internal import StrictJSON
internal import Supervisor

/// `verify`.
struct VerifyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Prove that the record, the candidates, the plans and the split belong together.",
        discussion: """
            Checked are: the chain and the signatures of the record; that its rows do not contradict \
            each other; that each judged candidate's bytes hash to the digest it was judged under; \
            that every exam ran under the plans of the genesis row; that the vault's split is the one \
            committed to before the first score; that the configuration is the one of the genesis \
            row; that every sealed exam commits to its outcomes, and that means, decisions and \
            promotions follow from the rows. Exit code 4 when anything is wrong.

            With --reveal, every sealed exam is opened: its root, mean, passes and faults are computed \
            from its outcomes, and every decision is decided again by the gate. `ledger reveal` writes \
            what an auditor needs for that: with an export in place of an experiment's directory, \
            neither root nor this host is needed.
            """
    )

    @Argument(help: "The experiment's directory, or an export of its ledger.")
    var directory = "."

    @Option(
        help: ArgumentHelp("The key that opens sealed outcomes; for auditors.", valueName: "file")
    )
    var reveal: String?

    @Option(
        help: ArgumentHelp(
            "The sealed outcomes; for an export, the folder `sealed` beside the key by default.",
            valueName: "folder"
        )
    )
    var sealed: String?

    @Option(
        help: ArgumentHelp(
            "A configuration that must be the one of the genesis row; by default the experiment's.",
            valueName: "file"
        )
    )
    var config: String?

    @Option(
        help: ArgumentHelp(
            "A checkpoint of the record that was kept elsewhere, which it must continue.",
            valueName: "file"
        )
    )
    var checkpoint: String?

    @Option(help: ArgumentHelp("The key that must have signed the record.", valueName: "hex"))
    var publicKey: String?

    @Flag(help: "Print the result for programs.")
    var json = false

    @OptionGroup(title: "Continuous integration") var checks: CheckOptions

    @OptionGroup var state: StateOptions

    func validate() throws {
        guard sealed == nil || reveal != nil else {
            throw ValidationError("--sealed needs the key that opens the outcomes: --reveal.")
        }
    }

    func run() throws {
        let outlets = checks.opened()
        let findings = try outlets.telling(
            Self.title,
            { () throws(SupervisorError) in try checked() },
            as: Self.report
        )
        try json ? Console.write(Self.json(findings)) : Console.write(Self.text(findings))
        guard let bad = findings.first(where: { $0.fault != nil }) else { return }
        throw SupervisorError(
            .integrity,
            operation: "verify the experiment",
            location: bad.subject,
            reason: SafeText.cleaned(bad.fault ?? ""),
            remedy: bad.remedy
        )
    }

    private func checked() throws(SupervisorError) -> [RecordFinding] {
        let isExport = !Self.isDirectory(directory)
        // Everything of the caller's is read while we have the caller's rights.
        let material = try AuditMaterial(
            key: reveal,
            sealed: sealed ?? (isExport ? reveal.map(AuditMaterial.folder(beside:)) : nil),
            configuration: config,
            checkpoint: checkpoint
        )
        let record =
            isExport
            ? try CheckedRecord(exportAt: directory, publicKey: publicKey)
            : try CheckedRecord(
                of: RecordedExperiment(directory, layout: state.place),
                publicKey: publicKey
            )
        return try RecordChecks(record, material).run()
    }

    private static let title = "invigilator verify"

    private static func report(_ findings: [RecordFinding]) -> CheckReport {
        let checks = findings.map { finding in
            Check(finding.subject, in: "verify", finding.fault.map { .failed($0) } ?? .passed)
        }
        let bad = checks.count { $0.outcome.isBad }
        return CheckReport(
            title,
            verdict: bad == 0 ? "everything belongs together" : "\(bad) of \(checks.count) damaged",
            isGood: bad == 0,
            [.init(title, checks)]
        )
    }

    private static func isDirectory(_ name: String) -> Bool {
        do throws(SystemError) {
            return try FileStatus(path: name).kind == .directory
        } catch {
            return true  // whoever opens the experiment says what is missing
        }
    }

    private static func text(_ findings: [RecordFinding]) -> String {
        findings.map { finding in
            let sign = finding.fault == nil ? "ok      " : "DAMAGED "
            let words = SafeText.cleaned(finding.fault ?? finding.detail)
            return "\(sign)\(finding.subject): \(words)\n"
        }.joined()
    }

    private static func json(_ findings: [RecordFinding]) -> JSONValue {
        let checks = findings.map { finding -> JSONValue in
            [
                "subject": .string(finding.subject), "sound": .bool(finding.fault == nil),
                "detail": .string(finding.fault ?? finding.detail),
            ]
        }
        return [
            "schema": "invigilator.verification/1",
            "sound": .bool(findings.allSatisfy { $0.fault == nil }), "checks": .array(checks),
        ]
    }
}

internal import HostKernel
internal import ArgumentParser
internal import ExamResults
internal import IterationLoop
internal import Ledger
internal import LinuxKernel
internal import StrictJSON
internal import Supervisor
internal import Workspace

/// `verify`.
struct VerifyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Prove that the record, the candidates, the plans and the split belong together.",
        discussion: """
            Checked are: the chain and the signatures of the record; that its rows do not contradict \
            each other; that each judged candidate's bytes hash to the digest it was judged under; \
            that every exam ran under the plans of the genesis row; that the vault's split is the one \
            committed to before the first score. Exit code 4 when anything is wrong.
            """
    )

    @Flag(help: "Print the result for programs.")
    var json = false

    @OptionGroup var options: ExperimentOptions

    func run() throws {
        let record = try RecordedExperiment(options.directory, layout: options.state.place)
        let findings = try RecordChecks(record).run()
        try json ? Console.write(Self.json(findings)) : Console.write(Self.text(findings))
        guard let bad = findings.first(where: { $0.fault != nil }) else { return }
        throw SupervisorError(
            .integrity,
            operation: "verify the experiment",
            location: bad.subject,
            reason: bad.fault ?? "",
            remedy: "stop the experiment, keep its state as evidence, compare with an older export"
        )
    }

    private static func text(_ findings: [RecordFinding]) -> String {
        findings.map { finding in
            let sign = finding.fault == nil ? "ok      " : "DAMAGED "
            return "\(sign)\(finding.subject): \(finding.fault ?? finding.detail)\n"
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

/// One thing that was checked.
struct RecordFinding {
    /// What was checked.
    let subject: String
    /// What was found, in a few words.
    let detail: String
    /// What is wrong; absent when nothing is.
    var fault: String?
}

/// Checks that what an experiment keeps belongs together.
struct RecordChecks {
    private let record: RecordedExperiment
    private let entries: [LedgerEntry]
    private let report: VerificationReport

    init(_ record: RecordedExperiment) throws(SupervisorError) {
        self.record = record
        report = try record.verify(.everySignature)
        entries = try record.entries()
    }

    /// Every check, in the order in which a reader should believe them.
    func run() throws(SupervisorError) -> [RecordFinding] {
        var findings = [
            RecordFinding(
                subject: "record",
                detail: "\(report.count) rows, \(report.signaturesChecked) signatures, key "
                    + report.publicKey,
                fault: report.fault?.description
            )
        ]
        let state: CampaignState
        do throws(SupervisorError) {
            state = try RecordedExperiment.replay(entries)
        } catch {
            findings.append(
                RecordFinding(subject: "history", detail: "", fault: error.description)
            )
            return findings
        }
        findings.append(
            RecordFinding(subject: "history", detail: "the rows do not contradict each other")
        )
        findings.append(try candidates(state))
        findings.append(plans(state))
        if let genesis = state.genesis { findings.append(split(genesis)) }
        return findings
    }

    // MARK: - candidates

    private func candidates(_ state: CampaignState) throws(SupervisorError) -> RecordFinding {
        let repository = CandidateRepository(at: record.layout.repository(record.experiment.id))
        var finding = RecordFinding(
            subject: "candidates",
            detail: "\(state.decided.count) judged files hash to their digests"
        )
        for (digest, iteration) in state.decided.sorted(by: { $0.value < $1.value }) {
            if let fault = fault(of: digest, in: repository) {
                finding.fault = "iteration \(iteration): \(fault)"
                return finding
            }
        }
        if let commit = state.best?.commit, let fault = headFault(commit, in: repository) {
            finding.fault = fault
        }
        return finding
    }

    private func fault(of digest: CandidateDigest, in repository: CandidateRepository) -> String? {
        do throws(WorkspaceError) {
            guard let commit = try repository.commit(of: digest) else {
                return "the file of \(digest) is missing"
            }
            let found = try repository.candidate(in: commit).digest
            return found == digest ? nil : "the file of \(digest) hashes to \(found)"
        } catch {
            return "\(error)"
        }
    }

    private func headFault(_ commit: String, in repository: CandidateRepository) -> String? {
        do throws(WorkspaceError) {
            let head = try repository.head()?.hex
            return head == commit
                ? nil : "the accepted candidate is \(commit), the repository's is \(head ?? "none")"
        } catch {
            return "\(error)"
        }
    }

    // MARK: - plans and split

    private func plans(_ state: CampaignState) -> RecordFinding {
        let agreed = Set(state.genesis?.policyDigests.values.map { $0 } ?? [])
        var finding = RecordFinding(subject: "plans", detail: "")
        var exams = 0
        for entry in entries where entry.kind == .examEnded {
            exams += 1
            let used = entry.body["plan_digests"]?.objectValue ?? [:]
            for (name, value) in used.sorted(by: { $0.key < $1.key }) {
                guard let digest = value.stringValue, !agreed.contains(digest) else { continue }
                finding.fault =
                    "row \(entry.sequence): the \(name) ran under another plan, \(digest)"
                return finding
            }
        }
        return RecordFinding(
            subject: "plans",
            detail: "\(exams) exams ran under the plans of the genesis row"
        )
    }

    private func split(_ genesis: GenesisRecord) -> RecordFinding {
        let subject = "split"
        do throws(SystemError) {
            let vault = try Descriptor.open(
                record.layout.vault(record.experiment.id),
                [.read, .directory]
            )
            let key = try vault.contents(of: "split.key", limit: 64)
            let salt = try vault.contents(of: "split.salt", limit: 64)
            var tasks: [TaskCatalog.Entry] = []
            for name in ["train", "test"] {
                let file = "\(name)/tasks.json"
                let bytes = try vault.contents(of: file, limit: 256 << 20)
                do throws(WorkspaceError) {
                    tasks += try TaskCatalog(parsing: bytes, file: file).entries
                } catch {
                    return RecordFinding(subject: subject, detail: "", fault: "\(error)")
                }
            }
            return Self.compare(tasks, key, salt, genesis)
        } catch {
            return RecordFinding(subject: subject, detail: "", fault: "the vault: \(error)")
        }
    }

    private static func compare(
        _ tasks: [TaskCatalog.Entry],
        _ key: [UInt8],
        _ salt: [UInt8],
        _ genesis: GenesisRecord
    ) -> RecordFinding {
        var finding = RecordFinding(
            subject: "split",
            detail: "\(genesis.train.count) train and \(genesis.testCount) sealed tasks, as drawn "
                + "and committed to before the first score"
        )
        do throws(WorkspaceError) {
            let draw = try SplitDraw(of: tasks, key: key)
            if draw.train != genesis.train {
                finding.fault = "the vault's key draws other train tasks than the genesis row names"
            } else if draw.commitment(salt: salt) != genesis.commitment {
                finding.fault = "the vault's split is not the one that was committed to"
            }
        } catch {
            finding.fault = "\(error)"
        }
        return finding
    }
}

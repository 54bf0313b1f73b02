internal import HostKernel
internal import ExamResults
internal import IterationLoop
internal import Ledger
internal import LinuxKernel
internal import Reveal
internal import StrictJSON
internal import Supervisor
internal import Workspace

/// One thing that was checked.
struct RecordFinding {
    /// What was checked.
    let subject: String
    /// What was found, in a few words.
    let detail: String
    /// What is wrong; absent when nothing is.
    var fault: String?
    /// What to do where something is wrong.
    var remedy =
        "stop the experiment, keep its state as evidence, compare with an older export"
}

/// Checks that what an experiment keeps belongs together.
struct RecordChecks {
    private let record: CheckedRecord
    private let material: AuditMaterial

    init(_ record: CheckedRecord, _ material: AuditMaterial) {
        self.record = record
        self.material = material
    }

    private var entries: [LedgerEntry] { record.entries }

    /// Every check, in the order in which a reader should believe them.
    func run() throws(SupervisorError) -> [RecordFinding] {
        let report = record.report
        var findings = [
            RecordFinding(
                subject: "record",
                detail: "\(report.count) rows, \(report.signaturesChecked) signatures, key "
                    + report.publicKey,
                fault: report.fault?.description
            )
        ]
        findings += record.keys()
        // Of an export that is not whole there is nothing else to believe.
        if record.experiment == nil, !report.isIntact { return findings }
        if let checkpoint = material.checkpoint {
            let comparison = try record.comparison(with: checkpoint.bytes)
            findings.append(
                RecordFinding(
                    subject: "checkpoint",
                    detail: comparison.text,
                    fault: comparison.fault
                )
            )
        }
        let state: CampaignState
        let audit: RecordAudit
        do throws(SupervisorError) {
            state = try RecordedExperiment.replay(entries)
            audit = try recomputed()
        } catch {
            findings.append(
                RecordFinding(subject: "history", detail: "", fault: error.description)
            )
            return findings
        }
        findings.append(
            RecordFinding(subject: "history", detail: "the rows do not contradict each other")
        )
        findings += try surroundings(state, audit)
        findings += audit.findings.map {
            RecordFinding(subject: $0.subject, detail: $0.detail, fault: $0.fault)
        }
        return findings
    }

    // What lies beside the rows.
    private func surroundings(
        _ state: CampaignState,
        _ audit: RecordAudit
    ) throws(SupervisorError) -> [RecordFinding] {
        var findings: [RecordFinding] = []
        if let experiment = record.experiment {
            findings.append(try candidates(state, of: experiment))
        }
        findings.append(plans(state))
        guard let genesis = state.genesis else { return findings }
        if let experiment = record.experiment {
            findings.append(split(genesis, of: experiment, audit))
        }
        if let opening = material.outcomes?[AuditMaterial.split] {
            findings.append(openedSplit(opening, genesis, audit))
        } else if material.key != nil, record.experiment == nil {
            findings.append(
                RecordFinding(
                    subject: "opened split",
                    detail: "",
                    fault: "\(AuditMaterial.split) is missing beside the outcomes, so that nothing"
                        + " shows which tasks were sealed"
                )
            )
        }
        if let configuration = configuration(genesis) { findings.append(configuration) }
        return findings
    }

    // MARK: - sealed exams and decisions

    private func recomputed() throws(SupervisorError) -> RecordAudit {
        do throws(LoopError) {
            return try RecordAudit(
                of: record.rows,
                key: material.key,
                opening: material.key.map { key in { exam in outcomes(of: exam, key) } }
            )
        } catch {
            throw SupervisorError(.integrity, error)
        }
    }

    private func outcomes(
        of exam: ExamIdentity,
        _ key: RevealKey
    ) -> Result<SealedOutcomes, RevealFault> {
        do {
            guard let file = try file(exam.fileName) else {
                return .failure(RevealFault("the outcomes \(exam.fileName) are missing"))
            }
            return .success(try SealedOutcomes(opening: file, under: key, of: exam))
        } catch {
            return .failure(RevealFault("\(error)"))
        }
    }

    private func file(_ name: String) throws(SystemError) -> [UInt8]? {
        if let outcomes = material.outcomes { return outcomes[name] }
        guard let experiment = record.experiment else { return nil }
        let folder = experiment.layout.sealed(experiment.experiment.id)
        return try Descriptor.open(folder, [.read, .directory])
            .contents(of: name, limit: 256 << 20)
    }

    // MARK: - configuration

    private func configuration(_ genesis: GenesisRecord) -> RecordFinding? {
        let own = record.experiment.flatMap { experiment in
            experiment.configuration.map { ("experiment_config.yaml", $0) }
        }
        guard let (name, bytes) = material.configuration ?? own else { return nil }
        var finding = RecordFinding(
            subject: "configuration",
            detail: "\(name) is the one of the genesis row"
        )
        finding.remedy =
            "name the configuration that the experiment was prepared with, or restore it"
        do throws(WorkspaceError) {
            let config = try ExperimentConfig(parsing: bytes, file: name)
            finding.fault = ConfigurationDifference.reason(config, genesis)
                .map { "\(name): \($0)" }
        } catch {
            finding.fault = "\(error)"
        }
        return finding
    }

    // MARK: - candidates

    private func candidates(
        _ state: CampaignState,
        of record: RecordedExperiment
    ) throws(SupervisorError) -> RecordFinding {
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

    private func split(
        _ genesis: GenesisRecord,
        of record: RecordedExperiment,
        _ audit: RecordAudit
    ) -> RecordFinding {
        var finding = RecordFinding(
            subject: "split",
            detail: "\(genesis.train.count) train and \(genesis.testCount + genesis.finalCount) "
                + "sealed tasks, as drawn and committed to before the first score"
        )
        do throws(SupervisorError) {
            let split = try VaultSplit(genesis, in: record.layout)
            if split.draw.train != genesis.train {
                finding.fault = "the vault's key draws other train tasks than the genesis row names"
            } else if split.draw.commitment(salt: split.salt) != genesis.commitment {
                finding.fault = "the vault's split is not the one that was committed to"
            } else if let run = audit.revealedTasks, run != split.draw.test {
                finding.fault = "the sealed exams ran other tasks"
            } else if let run = audit.revealedFinalTasks, run != split.draw.final {
                finding.fault = "the final exam ran other tasks"
            }
        } catch {
            finding.fault = error.description
        }
        return finding
    }

    // What an auditor was given in place of the vault.
    private func openedSplit(
        _ bytes: [UInt8],
        _ genesis: GenesisRecord,
        _ audit: RecordAudit
    ) -> RecordFinding {
        var finding = RecordFinding(
            subject: "opened split",
            detail:
                "\(genesis.testCount + genesis.finalCount) sealed tasks, as committed to before "
                + "the first score, and those that the sealed exams ran"
        )
        do {
            let opening = try SplitOpening(parsing: bytes)
            if opening.train != genesis.train {
                finding.fault = "its train tasks are not those of the genesis row"
            } else if opening.commitment != genesis.commitment {
                finding.fault = "it is not the split that was committed to"
            } else if let run = audit.revealedTasks, run != opening.test {
                finding.fault = "the sealed exams ran other tasks"
            } else if let run = audit.revealedFinalTasks, run != opening.final {
                finding.fault = "the final exam ran other tasks"
            }
        } catch {
            finding.fault = "\(AuditMaterial.split): \(error)"
        }
        return finding
    }
}

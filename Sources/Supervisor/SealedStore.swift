internal import ExamResults
internal import HostKernel
internal import IterationLoop
internal import LinuxKernel
internal import Reveal

/// Keeps the outcomes of sealed exams for an auditor: encrypted, on the disk before the row that commits
/// to them.
struct SealedStore {
    private let key: RevealKey
    private let folder: String
    private let experiment: String

    /// Makes the key of an experiment, before its genesis row names it.
    ///
    /// - Parameters:
    ///   - layout: where state lies.
    ///   - id: the experiment.
    /// - Returns: the key.
    /// - Throws: ``SupervisorError``.
    static func create(
        in layout: StateLayout,
        _ id: String
    ) throws(SupervisorError) -> RevealKey {
        let bytes = try system("draw the reveal key", "vault") { () throws(SystemError) in
            try KernelRandom.bytes(RevealKey.byteCount)
        }
        let key = try Self.revealed { () throws(RevealError) in try RevealKey(bytes) }
        try keep(bytes, as: StateLayout.revealKey, in: layout.vault(id))
        return key
    }

    /// Opens the store of an experiment; there is none where the genesis row names no key.
    ///
    /// - Throws: an integrity violation where the vault has another key than the genesis row names.
    init?(of genesis: GenesisRecord, in layout: StateLayout) throws(SupervisorError) {
        guard let digest = genesis.revealDigest else { return nil }
        experiment = genesis.experiment
        folder = layout.sealed(experiment)
        let vault = layout.vault(experiment)
        let bytes = try system("read the reveal key", vault) { () throws(SystemError) in
            try Descriptor.open(vault, [.read, .directory])
                .contents(of: StateLayout.revealKey, limit: 64)
        }
        key = try Self.revealed { () throws(RevealError) in try RevealKey(bytes) }
        guard key.digest == digest else {
            throw SupervisorError(
                .integrity,
                operation: "read the reveal key",
                location: "\(vault)/\(StateLayout.revealKey)",
                reason: "its digest is not the one of the genesis row",
                remedy: "restore it from a copy; with another key no sealed exam could be audited"
            )
        }
    }

    /// Keeps outcomes.
    ///
    /// - Parameters:
    ///   - outcomes: of every arm and trial.
    ///   - exam: the exam.
    /// - Returns: the root that its row commits to.
    /// - Throws: ``SupervisorError``.
    func keep(
        _ outcomes: SealedOutcomes,
        of exam: ExamIdentity
    ) throws(SupervisorError) -> String {
        let nonce = try system("draw a nonce", "sealed outcomes") { () throws(SystemError) in
            try KernelRandom.bytes(RevealKey.nonceByteCount)
        }
        let bytes = try Self.revealed { () throws(RevealError) in
            try outcomes.sealed(under: key, of: exam, nonce: nonce)
        }
        try Self.keep(bytes, as: exam.fileName, in: folder)
        return outcomes.root(under: key, of: exam)
    }

    /// Names the exam that a row announced.
    func identity(_ record: ExamStartedRecord, number: Int) -> ExamIdentity {
        ExamIdentity(record, number: number, experiment: experiment)
    }

    // A row that promises outcomes must find them, also after the host lost its power.
    private static func keep(
        _ bytes: [UInt8],
        as name: String,
        in folder: String
    ) throws(SupervisorError) {
        try system("keep sealed outcomes", "\(folder)/\(name)") { () throws(SystemError) in
            let directory = try Descriptor.open(folder, [.read, .directory])
            try directory.replace(name, with: bytes, permissions: 0o600)
            try directory.openBeneath(name, [.read]).synchronize()
            try directory.synchronize()
        }
    }

    private static func revealed<Answer>(
        _ body: () throws(RevealError) -> Answer
    ) throws(SupervisorError) -> Answer {
        do throws(RevealError) { return try body() } catch {
            throw SupervisorError(.hostFailed, error)
        }
    }
}

extension Supervision {
    /// Keeps the outcomes of the exam that was announced last, where it is a sealed one.
    ///
    /// - Parameters:
    ///   - results: its results.
    ///   - split: its split.
    /// - Returns: the root that its row commits to; nothing for a train exam.
    /// - Throws: ``SupervisorError``.
    func sealedRoot(of results: TrialResults, _ split: Split) throws(SupervisorError) -> String? {
        guard split == .test, let sealedStore else { return nil }
        guard let announced, announced.record.split == .test else {
            fatalError("a sealed exam is announced by a row before it runs")
        }
        let exam = sealedStore.identity(announced.record, number: announced.number)
        return try sealedStore.keep(SealedOutcomes(results), of: exam)
    }
}

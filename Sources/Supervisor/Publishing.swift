internal import HostKernel
internal import IterationLoop
internal import Ledger
internal import LinuxKernel
internal import StrictJSON
internal import Workspace

extension PublishSettings {
    /// The command of our own program that keeps checkpoints at this place.
    ///
    /// - Parameter directory: whose owner it becomes.
    /// - Returns: its words.
    func words(for directory: String) -> [String] {
        let seconds = max(1, timeout.components.seconds)
        let beginning = ["ledger", PublisherLink.command, "--timeout-seconds", "\(seconds)"]
        switch place {
        case .file(let path): return beginning + ["--to", path, directory]
        case .ref(let ref, let repository):
            return beginning + ["--to-ref", ref, "--repository", repository, directory]
        case .command(let words): return beginning + [directory, "--"] + words
        }
    }
}

extension PublisherLink {
    /// The command of our own program that this link speaks with.
    package static let command = "publisher"

    /// Starts our own program as the process that keeps checkpoints, where the configuration has a place.
    convenience init?(_ inputs: ExperimentInputs) throws(SupervisorError) {
        guard let settings = inputs.config.ledger.publish else { return nil }
        let program = try system("find our own program", "/proc") { () throws(SystemError) in
            try Descriptor.open("/proc/\(CurrentProcess.pid)", [.read, .directory]).linkText("exe")
        }
        try self.init(program, settings.words(for: inputs.experiment.directory))
    }
}

extension Supervision {
    /// Compares the record with what is kept elsewhere and keeps a checkpoint of it there, where the
    /// configuration has a place.
    ///
    /// - Parameter progress: told one line.
    /// - Throws: ``SupervisorError`` where the record departs from what is kept, or nothing can be kept
    ///   and must be.
    func keepCheckpoint(progress: @escaping (String) -> Void) throws(SupervisorError) {
        guard let publisher else { return }
        var failure: SupervisorError?
        watchPublisher(progress: progress, fail: { failure = $0 })
        publisher.publish()
        try publisher.settle()
        publisher.onOutcome = { _ in }
        if let failure { throw failure }
    }

    /// Reports, records and judges what becomes of checkpoints from now on.
    ///
    /// - Parameters:
    ///   - progress: told one line for each.
    ///   - fail: told why the run must end.
    func watchPublisher(
        progress: @escaping (String) -> Void,
        fail: @escaping (SupervisorError) -> Void
    ) {
        guard let publisher else { return }
        publisher.onOutcome = { [unowned self, unowned publisher] outcome in
            switch outcome {
            case .kept(let rows): progress("a checkpoint of \(rows) rows is kept elsewhere")
            case .departs(let reason): fail(Self.departure(reason, publisher.place))
            case .failed(let reason):
                progress("no checkpoint is kept elsewhere: \(reason)")
                do throws(SupervisorError) { try recordUnpublished(reason) } catch {
                    return fail(error)
                }
                if publisher.isRequired { fail(Self.unpublished(reason, publisher.place)) }
            }
        }
    }

    private func recordUnpublished(_ reason: String) throws(SupervisorError) {
        try append(
            .other(
                kind: EventKind.unpublished.rawValue,
                body: [
                    "place": .string(publisher?.place ?? ""),
                    "reason": .string(String(reason.prefix(1_000))),
                ]
            ),
            at: WallClock.milliseconds
        )
    }

    private static func departure(_ reason: String, _ place: String) -> SupervisorError {
        SupervisorError(
            .integrity,
            operation: "compare the ledger with the checkpoint that is kept elsewhere",
            location: "ledger.publish.\(place)",
            reason: reason,
            remedy: "stop the experiment, keep both, and find out who replaced the ledger or the "
                + "checkpoint"
        )
    }

    private static func unpublished(_ reason: String, _ place: String) -> SupervisorError {
        SupervisorError(
            .hostFailed,
            operation: "keep a checkpoint elsewhere",
            location: "ledger.publish.\(place)",
            reason: reason,
            remedy: "make the place reachable and run again; without required: true the run goes on"
        )
    }
}

extension LoopShell {
    /// Compares the record with what is kept elsewhere, before anything happens in this run.
    func beginPublishing() throws(SupervisorError) {
        guard let publisher = supervision.publisher else { return }
        supervision.watchPublisher(progress: progress, fail: { [unowned self] in fail($0) })
        publisher.publish()
        try publisher.settle()
        if let failure { throw failure }
    }

    /// Keeps a checkpoint of the last row.
    func endPublishing() throws(SupervisorError) {
        guard let publisher = supervision.publisher, failure == nil else { return }
        try publisher.settle()
        publisher.publish()
        try publisher.settle()
        publisher.onOutcome = { _ in }
        if let failure { throw failure }
    }
}

internal import HostKernel
internal import IterationLoop
internal import Ledger
internal import ModelDialects
internal import Workspace

// Models in a run: what is recorded of them, and the coding agent's requests while it is judged.

extension LoopShell {
    func watchModels() {
        guard let models = supervision.models else { return }
        supervision.iterationOfUse = { [weak self] in self?.iterationOfUse ?? 0 }
        models.onArrival = { [unowned self] _ in post(.agentWaits) }
        models.onCall = { [unowned self] role in
            if role == .codingAgent { showedLife = true }
            noteCost()
        }
        models.onUse = { [unowned self] in
            supervision.keepUnbooked()
            noteCost()
        }
        models.onEvent = { [unowned self] role, event in
            post(
                .refused(
                    RefusalRecord(
                        event.kind.isAdjustment ? .adjusted : .denied,
                        layer: "model",
                        attempt: event.kind.rawValue,
                        detail: event.detail,
                        iteration: machine.workingIteration,
                        by: role.rawValue
                    )
                )
            )
            if event.kind == .cassetteMissing { depart(at: event) }
        }
        models.onFailures = { [unowned self] role, failures in
            progress("the model of the \(role.rawValue) fails: \(failures.text)")
            supervision.keepUnbooked()
        }
        models.onGap = { [unowned self] reason in
            progress("the broker was lost, and serves again: \(reason)")
            do throws(SupervisorError) { try recordModelUsage() } catch { fail(error) }
        }
        models.onEnd = { [unowned self] error in fail(error) }
    }

    // Ends the run at the next moment at which nothing is judged; what runs until then is paid, too.
    private func noteCost() {
        guard let costBound, !isCostReached, let models = supervision.models,
            models.cost >= costBound
        else { return }
        isCostReached = true
        progress("this run has cost as much as it may")
        post(.rules(.costReached))
    }

    // From here on the replay is another night than the recorded one, and a worse one: whoever compares
    // them must not be handed its score.
    private func depart(at event: ModelEvent) {
        departure = SupervisorError(
            .usage,
            operation: "replay what the coding agent was told",
            location: supervision.inputs.models?.cassette?.path ?? "models.cassette",
            reason: "it asked what the cassette has no answer to (\(event.detail))",
            remedy: "agent-calls.jsonl in the state directory has the request, with status 400; "
                + "find what differs from the recorded night, or record it again"
        )
        post(.stop(reason: "the cassette has no answer to a request of the coding agent"))
    }

    /// Holds the coding agent's next request while its candidate is judged: the moment at which it
    /// waits for us, and is frozen without any call of its own being cut in two.
    func followJudging() throws(SupervisorError) {
        guard let models = supervision.models, let listener = coding?.listener else { return }
        let isJudged =
            switch machine.phase {
            case .judging, .releasing: true
            case .idle, .editing, .copying, .training, .ended: false
            }
        try models.setHeld(listener, isJudged)
    }

    /// Keeps what roles used since the last time.
    func recordModelUsage() throws(SupervisorError) {
        try supervision.recordModelUsage(iteration: iterationOfUse)
    }

    private var iterationOfUse: Int {
        machine.state.isRunning ? machine.workingIteration : machine.state.iteration
    }
}

extension Supervision {
    /// Keeps what roles used of models since the last time, if they did.
    ///
    /// - Parameter iteration: the iteration that it was used in; 0 while an experiment is prepared.
    /// - Throws: ``SupervisorError``.
    func recordModelUsage(iteration: Int) throws(SupervisorError) {
        guard let usage = models?.takeUsage() else { return }
        let body = usage.body(iteration: iteration)
        try append(.other(kind: ModelUsage.kind.rawValue, body: body), at: WallClock.milliseconds)
        keepUnbooked()
    }
}

extension ModelService {
    /// Tells nobody any more; whoever was told may be gone when the broker ends.
    func forgetListeners() {
        onArrival = { _ in }
        onCall = { _ in }
        onUse = {}
        onEvent = { _, _ in }
        onFailures = { _, _ in }
        onGap = { _ in }
        onGapInExam = { _ in }
        onEnd = { _ in }
    }
}

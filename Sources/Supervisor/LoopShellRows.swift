internal import IterationLoop
internal import StrictJSON

// What goes with a row of the loop: usage before it, effects and words after it.

extension LoopShell {
    func append(_ event: LedgerEvent) throws(SupervisorError) {
        switch event {
        case .examEnded, .decision, .release, .runEnded: try recordModelUsage()
        default: break
        }
        if case .runEnded = event { try watchLastTraffic() }
        if case .release = event { try supervision.models?.beginIteration() }
        try supervision.append(event, at: moment.milliseconds)
        if case .other(BudgetExtension.kind, _) = event { answerAsker(["ok": true]) }
        try extendModels(event)
        watch(event)
        if case .release = event { supervision.publisher?.publish() }
        if let line = ProgressLine.text(of: event, supervision.colours) { progress(line) }
    }

    // The row first: what a broker is allowed, a record says.
    private func extendModels(_ event: LedgerEvent) throws(SupervisorError) {
        guard case .other(BudgetExtension.kind, let body) = event else { return }
        let more = try looped { () throws(LoopError) in try BudgetExtension(reading: body) }
        try supervision.models?.extend(by: more)
    }
}

internal import Benchmarks
internal import ExamResults
internal import IterationLoop
internal import LauncherClient
internal import LinuxKernel
internal import SandboxPlan
internal import SandboxPolicy
internal import StrictJSON
internal import Workspace

// What the two readers see, and answers that need the judged file.

extension LoopShell {
    func publishTraces() throws(SupervisorError) {
        guard let traces = lastTrain?.traces else { return }
        audit.note(traces: traces.flatMap { TraceWords.heard(in: $0.messages) })
        showAgent("its traces") { sink throws(WorkspaceError) in
            do throws(WorkspaceError) {
                try WorkspaceView.render(traces, as: .latest, into: &sink)
            } catch {
                // Half of them would mislead, and fill what results need.
                try WorkspaceView.render([], as: .latest, into: &sink)
                throw error
            }
        }
        try supervision.publishTraces(traces, in: .latest)
    }

    func restoreTraces() throws(SupervisorError) {
        guard let coding else { return }
        try supervision.copyKeptTraces(to: coding)
    }

    func render() throws(SupervisorError) {
        let content = machine.state.content
        showAgent("its results") { sink throws(WorkspaceError) in
            try WorkspaceView(of: content, for: .agent).render(into: &sink)
        }
        try supervision.renderForOperator(content)
    }

    /// Writes into the coding agent's view, whose size is bounded: what does not fit there is missing
    /// for the agent and on the record, and the run goes on.
    private func showAgent(
        _ what: String,
        _ body: (inout DirectorySink) throws(WorkspaceError) -> Void
    ) {
        guard let coding else { return }
        let problem: String
        do throws(SupervisorError) {
            var sink = try coding.workspaceSink()
            try workspace { () throws(WorkspaceError) in try body(&sink) }
            return
        } catch {
            problem = error.description
        }
        progress("the coding agent is not shown \(what): \(problem)")
        post(
            .refused(
                RefusalRecord(
                    .denied,
                    layer: Layer.limits.rawValue,
                    attempt: "show the coding agent \(what)",
                    detail: problem,
                    iteration: machine.workingIteration,
                    by: "supervisor"
                )
            )
        )
    }

    func replyStatus(
        _ connection: ConnectionID,
        _ value: JSONValue
    ) throws(SupervisorError) {
        guard var members = value.objectValue else { return answer(connection, value) }
        let surface = supervision.inputs.plans.surface
        members["surface"] = [
            "save": .string(surface.save.rawValue),
            "files": JSONValue(surface.patterns.map(\.text)),
        ]
        do throws(WorkspaceError) {
            let snapshot = try currentSnapshot()
            members["candidate"] = [
                "digest": .string(snapshot.digest.hex),
                "changed": .bool(snapshot.digest != machine.state.best?.digest),
            ]
        } catch {
            members["candidate"] = [
                "digest": .null, "changed": true, "problem": .string("\(error)"),
            ]
        }
        answer(connection, .object(members))
    }

    func replyDifference(
        _ connection: ConnectionID,
        _ commit: String?
    ) throws(SupervisorError) {
        let old = try candidate(of: commit)
        do throws(WorkspaceError) {
            let difference = try currentSnapshot().difference(from: old)
            answer(connection, ["ok": true, "diff": .string(difference)])
        } catch {
            answer(
                connection,
                [
                    "ok": false,
                    "error": [
                        "code": "snapshot", "operation": "show the difference",
                        "reason": .string("\(error)"),
                        "remedy": "restore agent/ with «exam revert»",
                    ],
                ]
            )
        }
    }
}

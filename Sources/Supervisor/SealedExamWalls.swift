internal import HostKernel
internal import IterationLoop
internal import LauncherClient
internal import SandboxPlan
internal import SelfCheck

/// Walls that were not seen to stand when a sealed exam was about to begin.
struct MissingWalls: Error, CustomStringConvertible {
    let shortfalls: [(probe: QuickProbe, location: String, reason: String)]

    /// Operation, location, reason and remedy, one line a wall.
    var description: String {
        shortfalls.map { shortfall in
            "begin a sealed exam: \(shortfall.location): \(shortfall.reason); "
                + shortfall.probe.cure
        }.joined(separator: "\n")
    }
}

extension Supervision {
    /// Performs the quick set of probes under the plans of a sealed exam, and refuses the exam by the
    /// name of each wall that is not seen to stand; the record says so, too.
    ///
    /// - Parameter iteration: the iteration that the exam belongs to.
    /// - Throws: ``SupervisorError`` with ``ExitStatus/hostFailed``.
    func requireWalls(iteration: Int) throws(SupervisorError) {
        guard !Layer.selfCheck.isOmitted else { return }
        let plans = [inputs.plans.coding, inputs.plans.candidate, inputs.plans.testExaminer]
        let findings = try launched { () throws(LauncherError) in
            try quickSet.findings(under: plans)
        }
        let missing = MissingWalls(shortfalls: findings.shortfalls)
        guard !missing.shortfalls.isEmpty else { return }
        for shortfall in missing.shortfalls {
            let record = RefusalRecord(
                layer: shortfall.probe.rawValue,
                attempt: "begin a sealed exam",
                detail: "\(shortfall.location): \(shortfall.reason)",
                iteration: iteration,
                by: "supervisor"
            )
            try append(.refusal(record), at: WallClock.milliseconds)
        }
        throw SupervisorError(.hostFailed, missing)
    }
}

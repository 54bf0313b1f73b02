internal import HostKernel
internal import IterationLoop
internal import LauncherClient
package import SandboxPlan
package import SelfCheck
internal import Workspace

/// Walls that were not seen to stand when an exam was about to begin.
package struct MissingWalls: Error, CustomStringConvertible {
    let operation: String
    let shortfalls: [(probe: QuickProbe, location: String, reason: String)]

    /// Operation, location, reason and remedy, one line a wall.
    package var description: String {
        shortfalls.map { shortfall in
            "\(operation): \(shortfall.location): \(shortfall.reason); \(shortfall.probe.cure)"
        }.joined(separator: "\n")
    }

    /// Performs the quick set of probes.
    ///
    /// - Parameters:
    ///   - operation: what is about to begin.
    ///   - plans: the plans of its sandboxes.
    ///   - quickSet: the probes, by the launcher that will be used.
    ///   - level: what the host was shown to reach; only its walls are looked for.
    /// - Returns: the walls that were not seen to stand; nothing where each was.
    /// - Throws: ``SupervisorError`` where a sandbox could not be made.
    package static func before(
        _ operation: String,
        under plans: [CompiledPlan],
        seenBy quickSet: QuickSet,
        at level: AssuranceLevel
    ) throws(SupervisorError) -> MissingWalls? {
        guard !Layer.selfCheck.isOmitted else { return nil }
        let findings = try launched { () throws(LauncherError) in
            try quickSet.findings(under: plans)
        }
        let shortfalls = findings.filter { $0.probe.stands(at: level) }.shortfalls
        return shortfalls.isEmpty
            ? nil : MissingWalls(operation: operation, shortfalls: shortfalls)
    }
}

extension Supervision {
    /// Performs the quick set of probes under the plans of a sealed exam, and refuses the exam by the
    /// name of each wall that is not seen to stand; the record says so, too.
    ///
    /// - Parameter iteration: the iteration that the exam belongs to.
    /// - Throws: ``SupervisorError`` with ``ExitStatus/hostFailed``.
    func requireWalls(iteration: Int) throws(SupervisorError) {
        let missing = try MissingWalls.before(
            "begin a sealed exam",
            under: [inputs.plans.coding, inputs.plans.candidate, inputs.plans.testExaminer],
            seenBy: quickSet,
            at: measured.level
        )
        guard let missing else { return }
        for shortfall in missing.shortfalls {
            let record = RefusalRecord(
                .denied,
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

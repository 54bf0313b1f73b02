public import ExamResults
public import IterationLoop
internal import StrictJSON

/// Which exam outcomes belong to: part of everything that is derived or encrypted for it.
public struct ExamIdentity: Sendable, Hashable {
    /// The experiment, as its genesis row names it.
    public let experiment: String
    /// The number of the exam's `exam-started` row.
    public let number: Int
    /// The iteration.
    public let iteration: Int
    /// What the exam is run for.
    public let purpose: ExamPurpose
    /// The candidate.
    public let digest: CandidateDigest

    /// Names the exam that a row announces.
    ///
    /// - Parameters:
    ///   - start: the body of its `exam-started` row.
    ///   - number: the number of that row.
    ///   - experiment: the experiment's id.
    public init(_ start: ExamStartedRecord, number: Int, experiment: String) {
        self.experiment = experiment
        self.number = number
        iteration = start.iteration
        purpose = start.purpose
        digest = start.digest
    }

    /// The name of the file that keeps its outcomes.
    public var fileName: String { "\(number).bin" }

    /// The identity as bytes: canonical JSON, which no other identity has.
    public var bytes: [UInt8] {
        let value: JSONValue = [
            "digest": .string(digest.hex), "exam": JSONValue(number),
            "experiment": .string(experiment), "iteration": JSONValue(iteration),
            "purpose": .string(purpose.rawValue), "schema": .string(SealedOutcomes.schema),
        ]
        return value.canonicalBytes
    }
}

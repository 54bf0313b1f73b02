public import ExamResults
internal import StrictJSON
internal import Transparency

/// The outcomes of one sealed exam: an arm for each version of the agent, with a result for each trial.
///
/// What is committed to is a tree (RFC 6962) with a leaf for the exam's seed, by which lots of the gate
/// are drawn, and one for each arm, trial and task, in this order: the candidate before the incumbent,
/// trials from 1, tasks byte by byte. A leaf is an HMAC of the
/// outcome under a salt of its own, so that a root tells nothing, and that one outcome could be opened
/// without any other.
public struct SealedOutcomes: Sendable, Equatable {
    /// The version of what is encrypted and hashed.
    static let schema = "invigilator.sealed-outcomes/1"

    /// A version of the agent that is examined.
    public enum Arm: String, Sendable, CaseIterable {
        /// The judged one.
        case candidate
        /// The best one so far, where the exam runs it again.
        case incumbent
    }

    /// The results of each trial, by arm; an arm without trials is absent.
    public let arms: [Arm: [ExamResults]]
    /// The exam's seed.
    public let seed: UInt64

    /// Takes the results of an exam.
    ///
    /// - Parameter results: of every arm and trial.
    public init(_ results: TrialResults) {
        arms = [Arm.candidate: results.candidate, .incumbent: results.incumbent]
            .filter { !$0.value.isEmpty }
        seed = results.seed
    }

    /// The results as the gate takes them; nothing where the arms do not belong to one exam.
    public var trials: TrialResults? {
        do throws(ExamError) {
            return try TrialResults(
                candidate: results(of: .candidate),
                incumbent: results(of: .incumbent),
                seed: seed
            )
        } catch {
            return nil
        }
    }

    /// The results of one arm, one for each trial.
    public func results(of arm: Arm) -> [ExamResults] { arms[arm] ?? [] }

    // MARK: - the commitment

    private var leaves: [JSONValue] {
        let head: JSONValue = ["seed": .string(Self.digits(of: seed))]
        let outcomes: [JSONValue] = Arm.allCases.flatMap { arm in
            results(of: arm).enumerated().flatMap { trial, results in
                results.all.map { Self.leaf(arm, trial + 1, $0.task, $0.outcome) }
            }
        }
        return [head] + outcomes
    }

    // 16 digits: a number of 64 bits has no spelling that every reader of JSON keeps.
    private static func digits(of seed: UInt64) -> String {
        let text = String(seed, radix: 16)
        return String(repeating: "0", count: 16 - text.utf8.count) + text
    }

    // In millionths, because a whole number has one spelling in every language.
    private static func leaf(
        _ arm: Arm,
        _ trial: Int,
        _ task: TaskID,
        _ outcome: TaskOutcome
    ) -> JSONValue {
        var members: [String: JSONValue] = [
            "arm": .string(arm.rawValue), "trial": JSONValue(trial), "task": .string(task.text),
            "outcome": .string(outcome.code),
        ]
        if case .graded(let reward) = outcome {
            members["reward_millionths"] = JSONValue(reward.millionths)
        }
        return .object(members)
    }

    /// The root that the exam's row commits to.
    ///
    /// - Parameters:
    ///   - key: derives the salts.
    ///   - exam: the exam.
    /// - Returns: 64 lower-case hexadecimal digits.
    public func root(under key: RevealKey, of exam: ExamIdentity) -> String {
        var tree = MerkleTree()
        for (index, leaf) in leaves.enumerated() {
            let place = (0..<8).map { UInt8(truncatingIfNeeded: index >> (56 - 8 * $0)) }
            let salt = key.derived("invigilator.reveal.salt/1", exam.bytes + [0] + place)
            tree.append(RevealKey.keyed(leaf.canonicalBytes, key: salt))
        }
        return tree.root.hex
    }

    // MARK: - the file

    private var bytes: [UInt8] {
        let value: JSONValue = ["leaves": .array(leaves), "schema": .string(Self.schema)]
        return value.canonicalBytes
    }

    /// The outcomes as the vault keeps them.
    ///
    /// - Parameters:
    ///   - key: encrypts them.
    ///   - exam: the exam, which is authenticated with them.
    ///   - nonce: 12 random bytes.
    /// - Returns: nonce, ciphertext and tag (AES-256-GCM).
    /// - Throws: ``RevealError/notSealed(exam:reason:)``.
    public func sealed(
        under key: RevealKey,
        of exam: ExamIdentity,
        nonce: [UInt8]
    ) throws(RevealError) -> [UInt8] {
        try key.sealed(bytes, for: exam, nonce: nonce)
    }

    /// Opens outcomes.
    ///
    /// - Parameters:
    ///   - file: what ``sealed(under:of:nonce:)`` made.
    ///   - key: the experiment's key.
    ///   - exam: the exam.
    /// - Throws: ``RevealError``; also where the outcomes are spelled in any other way than the one.
    public init(
        opening file: [UInt8],
        under key: RevealKey,
        of exam: ExamIdentity
    ) throws(RevealError) {
        let bytes = try key.opened(file, for: exam)
        do {
            var reader = try ObjectReader(
                JSONValue(parsing: bytes, limits: .document),
                location: "sealed outcomes"
            )
            let schema = try reader.requiredString("schema")
            let leaves = try reader.requiredArray("leaves")
            try reader.finish()
            guard schema == Self.schema else { throw Misspelling("the schema is unknown") }
            guard let first = leaves.first else { throw Misspelling("there is no leaf") }
            var head = try ObjectReader(first, location: "first leaf")
            let digits = try head.requiredString("seed")
            try head.finish()
            guard let number = UInt64(digits, radix: 16) else {
                throw Misspelling("the seed is no number")
            }
            seed = number
            arms = try Self.arms(of: leaves.dropFirst())
        } catch {
            throw .malformed(exam: exam.number, reason: "\(error)")
        }
        guard self.bytes == bytes else {
            throw .malformed(exam: exam.number, reason: "the leaves are not in their one order")
        }
    }

    private struct Misspelling: Error, CustomStringConvertible {
        let description: String
        init(_ description: String) { self.description = description }
    }

    private static func arms(of leaves: some Sequence<JSONValue>) throws -> [Arm: [ExamResults]] {
        var found: [Arm: [Int: [TaskID: TaskOutcome]]] = [:]
        for leaf in leaves {
            var reader = try ObjectReader(leaf, location: "leaf")
            guard let arm = Arm(rawValue: try reader.requiredString("arm")) else {
                throw Misspelling("an arm is unknown")
            }
            let trial = try reader.requiredInteger("trial")
            let task = try TaskID(try reader.requiredString("task"))
            let outcome = try TaskOutcome(
                code: try reader.requiredString("outcome"),
                reward: try reader.optionalInteger("reward_millionths").map { whole in
                    try Reward(millionths: whole).value
                }
            )
            try reader.finish()
            found[arm, default: [:]][trial, default: [:]][task] = outcome
        }
        return try found.mapValues { trials in
            guard trials.keys.sorted() == Array(1...trials.count) else {
                throw Misspelling("a trial is missing")
            }
            return try (1...trials.count).map { trial in
                let outcomes = trials[trial] ?? [:]
                return try ExamResults(planned: Array(outcomes.keys), outcomes: outcomes)
            }
        }
    }
}

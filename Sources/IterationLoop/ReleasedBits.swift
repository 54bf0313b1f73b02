internal import ExamResults
internal import Gate
internal import SandboxPolicy
internal import StrictJSON
internal import Workspace

/// What one release can have told the coding agent's side about sealed tasks, at the most, in bits.
///
/// Each is a logarithm of what can be told apart, rounded up to hundredths. Nothing is subtracted for what
/// an honest candidate does: the sum is a bound, not an estimate.
public struct ReleasedBits: Sendable, Equatable {
    /// Accepted, rejected or void.
    public var verdict: Double
    /// The rounded score, where one was told.
    public var score: Double
    /// The moment of the grid: how far a candidate can have stretched the sealed exam.
    public var slot: Double
    /// Channels beside the answers that a bound is known of; ``ReleaseRecord/channels`` has each.
    public var channels: Double

    /// What reasons tell apart after a sealed exam: accepted, refused by the sealed score, refused after
    /// exams that broke, void, and void by a tripwire.
    static let toldEnds = 5

    /// All of it.
    public var total: Double { verdict + score + slot + channels }

    /// The bits of a score that was rounded to a step.
    ///
    /// - Parameter quantum: the step; without one nothing is told.
    /// - Returns: the bits.
    public static func ofScore(quantum: Double?) -> Double {
        guard let quantum, quantum > 0 else { return 0 }
        return roundedUp((1 / quantum).rounded(.up) + 1)
    }

    /// Counts what a decision's release tells.
    ///
    /// - Parameters:
    ///   - decision: the decision.
    ///   - genesis: how scores are rounded, and how many tasks are sealed.
    ///   - rules: the grid, and how long a sealed exam can be made.
    ///   - last: what was told of a score before it, if anything.
    ///   - open: what channels beside the answers can have told; nil where the candidate had no sealed exam.
    init(
        of decision: DecisionRecord,
        _ genesis: GenesisRecord,
        _ rules: LoopRules,
        after last: Proportion?,
        beside open: OpenChannels?
    ) {
        self = Self.most(genesis, rules, after: last)
        if decision.released == nil { score = 0 }
        channels = open?.sum ?? 0
        if open == nil { (verdict, slot) = (0, 0) }
    }

    /// The most that the next release can tell.
    ///
    /// - Parameters:
    ///   - genesis: how scores are told, and how many rollouts a sealed exam has.
    ///   - rules: the grid, and how long a sealed exam can be made.
    ///   - last: what was told last of a score, if anything.
    /// - Returns: the bits.
    static func most(
        _ genesis: GenesisRecord,
        _ rules: LoopRules,
        after last: Proportion?
    ) -> ReleasedBits {
        let turns = (genesis.testCount + rules.concurrency - 1) / rules.concurrency
        // The incumbent is of the coding agent's making as well, and an exam that is void is run again.
        let arms = genesis.rules.sealed == .ratchet ? 1 : 2
        let exams = max(1, rules.exams)
        let longest =
            Double(turns * genesis.rules.trials * arms * exams) * Double(rules.rolloutMilliseconds)
        let slots = 1 + (longest / Double(rules.gridMilliseconds)).rounded(.up)
        return ReleasedBits(
            verdict: roundedUp(Double(toldEnds)),
            score: genesis.release.bits(after: last),
            slot: roundedUp(slots),
            channels: channels(genesis, rules, exams: exams).sum
        )
    }

    /// Counts what sealed exams told of a candidate whose answer nobody gets: the host's counters alone.
    ///
    /// - Parameters:
    ///   - intent: the candidate.
    ///   - genesis: what is charged for each exam.
    ///   - more: what counters tell beyond that of an exam that has no end in the record.
    init?(ofUntold intent: OpenIntent, _ genesis: GenesisRecord, more: Double) {
        guard intent.sealedExams > 0 else { return nil }
        self.init(
            verdict: 0,
            score: 0,
            slot: 0,
            channels: Self.hundredths(
                genesis.release.counterBits * Double(intent.sealedExams) + intent.uncountedBits
                    + more
            )
        )
    }

    /// What channels beside the answers can tell of a candidate that has so many sealed exams.
    static func channels(
        _ genesis: GenesisRecord,
        _ rules: LoopRules,
        exams: Int
    ) -> OpenChannels {
        var open = rules.channels ?? OpenChannels()
        open.charge(.counters, genesis.release.counterBits * Double(exams))
        // Each exam starts the same number of sandboxes; how many there were is told by nothing else.
        open.charge(.launches, Logarithm.base2(Double(max(rules.exams, exams))))
        return open
    }

    /// Bits, rounded up to hundredths.
    static func hundredths(_ bits: Double) -> Double { (bits * 100).rounded(.up) / 100 }

    private init(verdict: Double, score: Double, slot: Double, channels: Double) {
        self.verdict = verdict
        self.score = score
        self.slot = slot
        self.channels = channels
    }

    init(from reader: inout BodyReader) throws(LoopError) {
        verdict = try reader.number("verdict")
        score = try reader.number("score")
        slot = try reader.number("slot")
        channels = try reader.number("channels")
        try reader.finish()
    }

    var body: JSONValue {
        [
            "verdict": .number(verdict), "score": .number(score), "slot": .number(slot),
            "channels": .number(channels),
        ]
    }

    /// A logarithm of a count, rounded up to hundredths.
    static func roundedUp(_ count: Double) -> Double {
        hundredths(Logarithm.base2(count))
    }
}

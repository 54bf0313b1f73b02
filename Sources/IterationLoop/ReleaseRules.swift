public import ExamResults
internal import StrictJSON

/// What the coding agent's side is told of sealed scores, and how much all of it may tell; fixed in
/// the genesis record.
public struct ReleaseRules: Sendable, Equatable {
    /// How a score is told.
    public let policy: Policy
    /// The step that a told score is rounded to, above 0.
    public let step: Proportion
    /// The bits that all releases together may tell; nothing without a limit.
    public let budget: Double?
    /// The bits that the host's counters of objects may tell of one sealed exam; 0 in records of versions
    /// that ended an exam for them instead.
    public let counterBits: Double

    /// How a score is told.
    public enum Policy: String, Sendable, CaseIterable {
        /// Not at all.
        case verdict
        /// Rounded to a step.
        case bucket
        /// Rounded to a step where it is at least a step above the last one that was told; otherwise
        /// that one again (Blum and Hardt, "The Ladder", 2015).
        case ladder
        /// With four decimals.
        case score
    }

    /// The step of ``Policy/score``: four decimals, as auto-harness prints.
    static let finest = 100

    /// Makes rules.
    ///
    /// - Parameters:
    ///   - policy: how a score is told.
    ///   - step: the step that it is rounded to; ten thousandths under ``Policy/score``.
    ///   - budget: the bits that all releases together may tell.
    ///   - counterBits: the bits that the host's counters may tell of one sealed exam.
    public init(
        _ policy: Policy,
        step: Proportion,
        budget: Double? = nil,
        counterBits: Double = 0
    ) {
        self.policy = policy
        self.budget = budget
        self.counterBits = counterBits
        do throws(ExamError) {
            self.step = policy == .score ? try Proportion(millionths: Self.finest) : step
        } catch {
            fatalError("invariant: ten thousandths are a proportion")
        }
    }

    /// The step, where a score is told at all.
    public var quantum: Proportion? { policy == .verdict ? nil : step }

    /// What is told of a score.
    ///
    /// - Parameters:
    ///   - score: the exact score.
    ///   - last: what was told last, if anything.
    /// - Returns: what is told; nothing under ``Policy/verdict``.
    public func told(of score: Score, after last: Proportion?) -> Proportion? {
        switch policy {
        case .verdict: return nil
        case .bucket, .score: return score.released(quantum: step)
        case .ladder:
            let rounded = score.released(quantum: step)
            guard let last else { return rounded }
            return rounded.millionths >= last.millionths + step.millionths ? rounded : last
        }
    }

    /// The bits of one told score: the logarithm of how many different ones there could have been.
    ///
    /// - Parameter last: what was told before, if anything.
    /// - Returns: the bits, rounded up to hundredths; 0 where nothing is told.
    public func bits(after last: Proportion?) -> Double {
        switch policy {
        case .verdict: 0
        case .bucket, .score: ReleasedBits.ofScore(quantum: step.value)
        case .ladder:
            // The old one again, or one of the steps above it.
            ReleasedBits.roundedUp(1 + ((1 - (last?.value ?? 0)) / step.value).rounded(.up))
        }
    }
}

extension ReleaseRules {
    init(from rules: inout BodyReader) throws(LoopError) {
        let quantum = try rules.optionalProportion("release_quantum")
        let word = try rules.optionalString("release")
        guard let policy = Policy(rawValue: word ?? (quantum == nil ? "verdict" : "bucket")) else {
            throw rules.refused("release is no word of this version")
        }
        guard quantum.map({ $0 > .zero }) ?? (policy == .verdict) else {
            throw rules.refused("release_quantum is missing or 0")
        }
        self.init(
            policy,
            step: quantum ?? .one,
            budget: try rules.optionalNumber("release_bits"),
            counterBits: try rules.optionalNumber("release_counter_bits") ?? 0
        )
    }

    func write(to rules: inout BodyWriter) {
        rules.add("release_quantum", quantum)
        switch policy {
        case .verdict, .bucket: break
        case .ladder, .score: rules.add("release", policy.rawValue)
        }
        if let budget { rules.add("release_bits", .number(budget)) }
        if counterBits > 0 { rules.add("release_counter_bits", .number(counterBits)) }
    }
}

extension CampaignState {
    /// What the coding agent's side was told last of a sealed score.
    var lastTold: Proportion? { accepted.last { $0.candidate.released != nil }?.candidate.released }

    /// The bits that releases told so far, the baseline's score among them.
    public var releasedBits: Double { usage.releasedBits }
}

extension LoopMachine {
    /// The refusal of any file once the next release could tell more than is left.
    ///
    /// Nothing is run for it: an exam whose result may not be told must not be made.
    var spentRelease: RequestRefusal? {
        guard let budget = genesis.release.budget else { return nil }
        let next = ReleasedBits.most(genesis, rules, after: state.lastTold).total
        // Hundredths of bits are summed as binary fractions.
        guard state.usage.releasedBits + next > budget + 1e-9 else { return nil }
        return RequestRefusal(
            layer: .requestTable,
            code: "release-budget",
            attempt: "submit",
            reason: "the budget of \(budget) bits about sealed tasks does not hold another answer",
            remedy: "nothing further can be judged in this experiment; the operator can prepare a"
                + " new one"
        )
    }
}

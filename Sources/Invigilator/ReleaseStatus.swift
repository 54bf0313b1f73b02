internal import ExamResults
internal import GateStatistics
internal import IterationLoop
internal import Ledger
internal import SandboxPolicy
internal import StrictJSON

/// What was told of sealed tasks so far, what may still be told, and what a score is worth after it.
struct ReleaseStatus {
    private static let parts = ["verdict", "score", "slot", "channels"]

    private let sums: [String: Double]
    private let budget: Double?
    private let bound: OverfitBound?
    private let best: Double?
    private let unbounded: [String]
    private let unlooked: Int

    init(_ state: CampaignState, _ entries: [LedgerEntry]) {
        var sums = Dictionary(uniqueKeysWithValues: Self.parts.map { ($0, 0.0) })
        // The baseline's score is told as well.
        if state.baseline?.released != nil {
            sums["score"] = state.genesis?.release.bits(after: nil) ?? 0
        }
        for entry in entries where [.release, .void].contains(entry.kind) {
            for part in Self.parts {
                sums[part, default: 0] += entry.body["bits"]?[part]?.numberValue ?? 0
            }
        }
        self.sums = sums
        budget = state.genesis?.release.budget
        let bits = Self.total(of: sums)
        bound = state.genesis.map { OverfitBound(bits: bits, tasks: $0.testCount) }
        best = state.best?.score.mean
        let open = state.usage.unboundedChannels
        unbounded = HostChannel.allCases.filter(open.contains).map(\.rawValue)
        unlooked = state.usage.unlookedReleases
    }

    private var total: Double { Self.total(of: sums) }

    // In one order: sums of fractions depend on it in the last digit.
    private static func total(of sums: [String: Double]) -> Double {
        parts.reduce(0) { $0 + (sums[$1] ?? 0) }
    }

    private var isVacuous: Bool {
        guard let bound, unbounded.isEmpty else { return true }
        return bound.isVacuous || best.map { bound.isVacuous(for: $0) } ?? false
    }

    /// The figures for programs.
    var json: JSONValue {
        var members = sums.mapValues { JSONValue.number(Self.hundredths($0)) }
        members["total"] = .number(Self.hundredths(total))
        members["budget"] = budget.map { .number($0) } ?? .null
        members["left"] = budget.map { .number(Self.hundredths(max(0, $0 - total))) } ?? .null
        members["bound"] = bound.map { .number(($0.bound * 10_000).rounded() / 10_000) } ?? .null
        members["vacuous"] = .bool(isVacuous)
        members["unbounded"] = JSONValue(unbounded)
        members["unlooked"] = JSONValue(unlooked)
        return .object(members)
    }

    /// The bits for people.
    var text: String {
        func figure(_ part: String) -> String { Decimal.text(sums[part] ?? 0, decimals: 1) }
        let limit = budget.map { " of \(Decimal.text($0, decimals: 1))" } ?? ""
        return "≤ \(Decimal.text(total, decimals: 1))\(limit) bits about sealed tasks: verdicts "
            + "\(figure("verdict")), scores \(figure("score")), moments \(figure("slot")), open "
            + "channels \(figure("channels"))"
            + (unbounded.isEmpty ? "" : "; not bounded: \(unbounded.joined(separator: ", "))")
            + (unlooked == 0
                ? ""
                : "; releases that do not say which channels were open: \(unlooked)")
    }

    /// What the best score is worth after that, for people.
    var worth: String? {
        guard let bound else { return nil }
        guard unbounded.isEmpty else {
            return "vacuous: nothing bounds what \(unbounded.joined(separator: ", ")) can have told"
        }
        let gap = Decimal.text(bound.bound, decimals: 2)
        return isVacuous
            ? "vacuous: after so many bits the best score may lie \(gap) above the true one"
            : "the best score is, with 95 %, less than \(gap) above the true one"
    }

    private static func hundredths(_ value: Double) -> Double { (value * 100).rounded() / 100 }
}

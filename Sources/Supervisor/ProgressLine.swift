internal import ExamResults
internal import Gate
internal import IterationLoop

/// One plain line for what a person who watches a night wants to know.
enum ProgressLine {
    /// The line of a row; absent for rows that say nothing new to a watcher.
    static func text(of event: LedgerEvent) -> String? {
        switch event {
        case .intent(let intent):
            "iteration \(intent.iteration): candidate \(intent.digest.short) submitted as "
                + intent.ticket
        case .decision(let decision):
            "iteration \(decision.iteration): \(decision.verdict.rawValue)"
                + (decision.sealed.map { ", sealed mean \($0.text())" } ?? "")
                + ": " + decision.reasons.joined(separator: "; ")
        case .promotion(let promotion) where !promotion.promoted.isEmpty:
            "iteration \(promotion.iteration): \(promotion.promoted.count) tasks join the suite"
        case .refusal(let refusal):
            "refused by \(refusal.layer): \(refusal.attempt) (\(refusal.detail))"
        case .void(let void): "iteration \(void.iteration): void: \(void.reason)"
        case .runEnded(let reason): "run ended: \(reason)"
        case .pause: "paused"
        case .resume: "resumed"
        case .stop(let reason): "stopping: \(reason)"
        case .baseline(let baseline):
            "baseline: train mean \(rounded(baseline.trainMean)), sealed mean "
                + baseline.sealed.text()
        case .floor(let floor): "floor \(floor.name): sealed mean \(floor.sealed.text())"
        case .genesis, .runStarted, .runResumed, .snapshot, .audit, .examStarted, .examEnded,
            .promotion, .release, .learning, .revert, .other:
            nil
        }
    }

    /// The line of an exam that begins.
    static func examBegins(_ request: ExamRequest, count: Int) -> String {
        "iteration \(request.iteration): \(request.purpose.rawValue) exam over \(count) tasks"
    }

    private static func rounded(_ value: Double) -> String {
        let thousandths = Int((value * 10_000).rounded())
        let digits = String(thousandths % 10_000)
        return "\(thousandths / 10_000)." + String(repeating: "0", count: 4 - digits.count) + digits
    }
}

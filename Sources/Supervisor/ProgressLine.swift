internal import ExamResults
internal import Gate
internal import IterationLoop
internal import StrictJSON
internal import Workspace

/// One plain line for what a person who watches a night wants to know.
enum ProgressLine {
    /// The line of a row; absent for rows that say nothing new to a watcher.
    static func text(of event: LedgerEvent, _ colours: RefusalColours) -> String? {
        switch event {
        case .intent(let intent):
            "iteration \(intent.iteration): candidate \(intent.digest.short) submitted as "
                + intent.ticket
        case .decision(let decision):
            "iteration \(decision.iteration): \(decision.verdict.rawValue)"
                + (decision.sealed.map { ", sealed mean \($0.text())" } ?? "")
                + underFloors(decision) + ": " + decision.reasons.joined(separator: "; ")
        case .promotion(let row) where row.promotion != Promotion():
            "iteration \(row.iteration): " + joined(row.promotion)
        case .retirement(let row): "\(row.task) is retired from the suite: \(row.reason)"
        case .refusal(let refusal):
            colours.painted(refusal.sentence.text(refusal.detail), as: refusal.kind)
        case .tripwire(let tripwire):
            "iteration \(tripwire.iteration): tripwire: \(tripwire.words)"
        case .void(let void): "iteration \(void.iteration): void: \(void.reason)"
        case .runEnded(let reason): "run ended: \(reason)"
        case .pause: "paused"
        case .resume: "resumed"
        case .stop(let reason): "stopping: \(reason)"
        case .baseline(let baseline):
            "baseline: train mean \(rounded(baseline.trainMean)), sealed mean "
                + baseline.sealed.text()
        case .floor(let floor) where floor.isCeiling:
            "ceiling \(floor.name): sealed mean \(floor.sealed.text())"
        case .floor(let floor): "floor \(floor.name): sealed mean \(floor.sealed.text())"
        case .learning(let learning):
            learning.note.parts[.needs].map {
                "iteration \(learning.iteration): the coding agent needs a person: \(oneLine($0))"
            }
        case .other(BudgetExtension.kind, let body): extended(body)
        case .genesis, .runStarted, .runResumed, .snapshot, .audit, .examStarted, .examEnded,
            .promotion, .release, .revert, .other:
            nil
        }
    }

    private static func extended(_ body: JSONValue) -> String? {
        do throws(LoopError) {
            let more = try BudgetExtension(reading: body)
            return "the budget is extended by \(more.words) (\(more.by))"
        } catch {
            return nil  // no row of ours
        }
    }

    private static func underFloors(_ decision: DecisionRecord) -> String {
        guard !decision.underFloors.isEmpty else { return "" }
        return ", under the floor of \(decision.underFloors.joined(separator: " and "))"
    }

    private static func joined(_ promotion: Promotion) -> String {
        let parts = [
            (promotion.promoted.count, "tasks join the suite"),
            (promotion.quarantined.count, "are flaky and kept apart"),
            (promotion.unconfirmed.count, "are not confirmed"),
            (promotion.capped.count, "have no place in their cluster"),
        ]
        return parts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
    }

    /// The line of an exam that begins.
    static func examBegins(_ request: ExamRequest, count: Int) -> String {
        "iteration \(request.iteration): \(request.purpose.rawValue) exam over \(count) tasks"
    }

    /// A text of the coding agent on one line, so that it cannot pass for a line of ours.
    private static func oneLine(_ text: String) -> String {
        String(text.map { $0.isNewline || $0 == "\t" ? " " : $0 }.prefix(200))
    }

    private static func rounded(_ value: Double) -> String {
        let thousandths = Int((value * 10_000).rounded())
        let digits = String(thousandths % 10_000)
        return "\(thousandths / 10_000)." + String(repeating: "0", count: 4 - digits.count) + digits
    }
}

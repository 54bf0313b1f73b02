internal import IterationLoop
internal import Ledger

extension StatusReport {
    /// One budget: what was used, and the limit of the configuration as it is now.
    struct Budget {
        let name: String
        let used: Double
        let limit: Double?
        let unit: String
    }

    /// What operators allowed beyond the configuration.
    var allowedMore: BudgetExtension {
        do throws(LoopError) {
            return try BudgetExtension(
                adding: entries.filter { $0.kind == .extended }.map(\.body)
            )
        } catch {
            return BudgetExtension()  // `run` refuses the row, and says why
        }
    }
}

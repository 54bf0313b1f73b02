internal import BrokerProtocol
internal import IterationLoop
internal import ModelDialects
internal import Workspace

// What an operator allows models beyond the configuration, and what the whole experiment has cost.

extension ModelService {
    /// What all roles together may use in the whole experiment.
    var campaignLimits: ModelLimits {
        settings.budget.campaign.extended(
            tokens: extended.tokens,
            microdollars: extended.microdollars
        )
    }

    /// What models cost so far, in every run and by calls that still stream, in millionths of a dollar.
    var cost: Int {
        claims.openCalls.reduce(claims.campaign) { sum, spending in
            var sum = sum
            sum.add(spending, isCut: false)
            return sum
        }.total.microdollars
    }

    /// Allows more, from the next request on.
    ///
    /// - Parameter more: what is allowed beyond what was allowed before.
    /// - Throws: ``SupervisorError``.
    func extend(by more: BudgetExtension) throws(SupervisorError) {
        extended.tokens += more.tokens
        extended.microdollars += more.microdollars
        claims.forgetRefusals()
        try setAccounts()
    }
}

extension ModelLimits {
    /// Whether there is nothing left.
    func isReached(by used: ModelUsage.Share) -> Bool {
        let tokens = used.inputTokens + used.outputTokens
        return requests.map { used.calls >= $0 } ?? false
            || self.tokens.map { tokens >= $0 } ?? false
            || costMicrodollars.map { used.microdollars >= $0 } ?? false
    }
}

internal import BrokerProtocol
internal import ModelDialects
internal import Synchronization

/// Nothing is left of an account.
struct AccountSpent: Error, Sendable, Equatable {
    let account: String
}

/// The budgets, and what models cost.
final class Accounts: Sendable {
    private struct State {
        var book = BudgetBook()
        // What is left of accounts that count requests.
        var requests: [String: Int] = [:]
    }

    private let state = Mutex(State())
    private let prices: PriceTable

    init(_ prices: PriceTable) {
        self.prices = prices
    }

    /// Sets what is left of an account.
    func set(_ terms: AccountTerms) {
        state.withLock { state in
            state.book.set(
                terms.name,
                left: Allowance(tokens: terms.tokens, microdollars: terms.microdollars)
            )
            state.requests[terms.name] = terms.requests
        }
    }

    /// Holds what a call may use, and counts it.
    func reserve(
        _ request: ModelRequest,
        from accounts: [String]
    ) throws(AccountSpent) -> Reservation {
        let price = prices.price(of: request.pin)
        let answer = state.withLock { state -> Result<Reservation, AccountSpent> in
            if let spent = accounts.first(where: { (state.requests[$0] ?? 1) < 1 }) {
                return .failure(AccountSpent(account: spent))
            }
            do throws(BudgetSpent) {
                let reservation = try state.book.reserve(
                    accounts,
                    input: request.estimatedInputTokens,
                    output: request.outputLimit,
                    price: price
                )
                for name in accounts { state.requests[name]? -= 1 }
                return .success(reservation)
            } catch {
                return .failure(AccountSpent(account: error.account))
            }
        }
        return try answer.get()
    }

    /// Holds what a call uses beyond its reservation.
    func hold(
        _ reservation: Reservation,
        _ usage: TokenUsage,
        under pin: ModelPin
    ) throws(AccountSpent) {
        let charge = Charge(
            tokens: usage.total,
            microdollars: prices.cost(of: usage, under: pin)
        )
        let answer = state.withLock { state -> Result<Void, AccountSpent> in
            do throws(BudgetSpent) {
                try state.book.hold(reservation, atLeast: charge)
                return .success(())
            } catch {
                return .failure(AccountSpent(account: error.account))
            }
        }
        try answer.get()
    }

    /// What a use costs, in millionths of a dollar.
    func cost(of usage: TokenUsage, under pin: ModelPin) -> Int {
        prices.cost(of: usage, under: pin)
    }

    /// Charges what a call used, once.
    ///
    /// - Returns: its cost in millionths of a dollar.
    func settle(_ reservation: Reservation, _ usage: TokenUsage, under pin: ModelPin) -> Int {
        let cost = prices.cost(of: usage, under: pin)
        state.withLock {
            $0.book.settle(reservation, used: Charge(tokens: usage.total, microdollars: cost))
        }
        return cost
    }
}

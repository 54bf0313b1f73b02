/// A sum of tokens and of money.
public struct Charge: Sendable, Equatable {
    /// Tokens of both directions.
    public let tokens: Int
    /// Millionths of a dollar.
    public let microdollars: Int

    /// Makes a sum; negative numbers count as 0.
    ///
    /// - Parameters:
    ///   - tokens: tokens of both directions.
    ///   - microdollars: millionths of a dollar.
    public init(tokens: Int, microdollars: Int) {
        self.tokens = max(0, tokens)
        self.microdollars = max(0, microdollars)
    }
}

/// What is left of one budget; nothing means no limit.
public struct Allowance: Sendable, Equatable {
    /// Tokens of both directions.
    public var tokens: Int?
    /// Millionths of a dollar.
    public var microdollars: Int?

    /// Makes an allowance.
    ///
    /// - Parameters:
    ///   - tokens: tokens of both directions, or nothing.
    ///   - microdollars: millionths of a dollar, or nothing.
    public init(tokens: Int? = nil, microdollars: Int? = nil) {
        self.tokens = tokens
        self.microdollars = microdollars
    }
}

/// Nothing is left of an account, or the account is unknown.
public struct BudgetSpent: Error, Sendable, Equatable {
    /// The account.
    public let account: String
}

extension BudgetSpent: CustomStringConvertible {
    /// Operation, location, reason and remedy on one line.
    public var description: String {
        "reserve a model call: account \(account): nothing is left; remedy: raise its budget"
    }
}

/// What a call holds of its accounts until it is settled.
public struct Reservation: Sendable, Equatable {
    /// Its number, never used twice by one book.
    public let number: Int
    /// The accounts that are charged.
    public let accounts: [String]
    /// The most tokens of output that what is left allows, at most what was asked.
    public let outputTokens: Int
}

/// The accounts of a campaign: what is left of each, and what calls in flight hold of it.
///
/// A call is admitted where each of its accounts has more left than the input costs, and it may
/// write no more than the rest pays for. One that writes more, because its provider does not keep to
/// what it was asked for, holds more while it runs, and ends where nothing is left. So an account is
/// overdrawn only by what the estimate of an input falls short of its true length.
public struct BudgetBook: Sendable, Equatable {
    private struct Account: Equatable {
        var left: Allowance
        var heldTokens = 0
        var heldMicrodollars = 0
    }

    private var accounts: [String: Account] = [:]
    // What each open reservation holds.
    private var open: [Int: Charge] = [:]
    private var next = 0

    /// Makes an empty book.
    public init() {}

    /// Sets what is left of an account; what calls in flight hold stays held.
    ///
    /// - Parameters:
    ///   - name: the account.
    ///   - left: what is left.
    public mutating func set(_ name: String, left: Allowance) {
        accounts[name, default: Account(left: left)].left = left
    }

    /// What is left of an account, calls in flight not counted, or nothing where it is unknown.
    ///
    /// - Parameter name: the account.
    /// - Returns: what is left.
    public func left(of name: String) -> Allowance? {
        accounts[name]?.left
    }

    /// Holds what a call may use.
    ///
    /// - Parameters:
    ///   - names: the accounts that are charged, each in full.
    ///   - input: the estimated tokens of the input.
    ///   - output: the most tokens of output that the call may ask for.
    ///   - price: the price of the model, or nothing.
    /// - Returns: the reservation, with the output that what is left allows.
    /// - Throws: ``BudgetSpent`` with the first account of which too little is left.
    public mutating func reserve(
        _ names: [String],
        input: Int,
        output: Int,
        price: ModelPrice?
    ) throws(BudgetSpent) -> Reservation {
        let inputCost =
            price?.cost(of: TokenUsage(input: input, output: 0, source: .count)) ?? 0
        var granted = max(output, 0)
        for name in names {
            guard let account = accounts[name] else { throw BudgetSpent(account: name) }
            if let left = account.left.tokens {
                let free = left - account.heldTokens - input
                guard free > 0 else { throw BudgetSpent(account: name) }
                granted = min(granted, free)
            }
            if let left = account.left.microdollars {
                let free = left - account.heldMicrodollars - inputCost
                guard free > 0 else { throw BudgetSpent(account: name) }
                granted = min(granted, Self.tokens(for: free, at: price?.output ?? 0))
            }
            // An output was asked for, and not one token of it is paid for.
            guard granted > 0 || output <= 0 else { throw BudgetSpent(account: name) }
        }
        let usage = TokenUsage(input: input, output: granted, source: .count)
        let charge = Charge(tokens: usage.total, microdollars: price?.cost(of: usage) ?? 0)
        for name in names {
            accounts[name]?.heldTokens += charge.tokens
            accounts[name]?.heldMicrodollars += charge.microdollars
        }
        next += 1
        open[next] = charge
        return Reservation(number: next, accounts: names, outputTokens: granted)
    }

    /// Holds more for a call that uses more than it asked for.
    ///
    /// - Parameters:
    ///   - reservation: the reservation; nothing changes where it is settled.
    ///   - used: what the call used so far; less than what it holds changes nothing.
    /// - Throws: ``BudgetSpent`` with the first account of which too little is left; nothing is held then.
    public mutating func hold(
        _ reservation: Reservation,
        atLeast used: Charge
    ) throws(BudgetSpent) {
        guard let held = open[reservation.number] else { return }
        let tokens = max(0, used.tokens - held.tokens)
        let microdollars = max(0, used.microdollars - held.microdollars)
        for name in reservation.accounts {
            guard let account = accounts[name] else { throw BudgetSpent(account: name) }
            let isSpent =
                account.left.tokens.map { $0 - account.heldTokens < tokens } ?? false
                || account.left.microdollars.map { $0 - account.heldMicrodollars < microdollars }
                    ?? false
            if isSpent { throw BudgetSpent(account: name) }
        }
        for name in reservation.accounts {
            accounts[name]?.heldTokens += tokens
            accounts[name]?.heldMicrodollars += microdollars
        }
        open[reservation.number] = Charge(
            tokens: held.tokens + tokens,
            microdollars: held.microdollars + microdollars
        )
    }

    /// Frees what a call holds and charges what it used.
    ///
    /// A reservation is settled once; again changes nothing.
    ///
    /// - Parameters:
    ///   - reservation: the reservation.
    ///   - used: what the call used.
    public mutating func settle(_ reservation: Reservation, used: Charge) {
        guard let held = open.removeValue(forKey: reservation.number) else { return }
        for name in reservation.accounts {
            accounts[name]?.heldTokens -= held.tokens
            accounts[name]?.heldMicrodollars -= held.microdollars
            if let left = accounts[name]?.left.tokens {
                accounts[name]?.left.tokens = left - used.tokens
            }
            if let left = accounts[name]?.left.microdollars {
                accounts[name]?.left.microdollars = left - used.microdollars
            }
        }
    }

    private static func tokens(for microdollars: Int, at price: Int) -> Int {
        guard price > 0 else { return .max }
        let (product, overflow) = microdollars.multipliedReportingOverflow(by: 1_000_000)
        return overflow ? .max : product / price
    }
}

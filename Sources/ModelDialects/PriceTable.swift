/// What a model's tokens cost, in millionths of a dollar for a million tokens: 3 dollars a million
/// are 3,000,000.
public struct ModelPrice: Sendable, Equatable {
    /// The price of a million tokens of input.
    public let input: Int
    /// The price of a million tokens of output.
    public let output: Int
    /// The price of a million tokens of input from a cache.
    public let cachedInput: Int

    /// Makes a price; negative numbers count as 0.
    ///
    /// - Parameters:
    ///   - input: millionths of a dollar for a million tokens of input.
    ///   - output: the same for output.
    ///   - cachedInput: the same for input from a cache; that of input where it is not given.
    public init(input: Int, output: Int, cachedInput: Int? = nil) {
        self.input = max(0, input)
        self.output = max(0, output)
        self.cachedInput = max(0, cachedInput ?? input)
    }

    /// The cost of a usage in millionths of a dollar, rounded up; `Int.max` where it is more.
    ///
    /// - Parameter usage: what was used.
    /// - Returns: millionths of a dollar.
    public func cost(of usage: TokenUsage) -> Int {
        let parts = [
            (usage.input - usage.cachedInput, input), (usage.cachedInput, cachedInput),
            (usage.output, output),
        ]
        var sum = 0
        for (tokens, price) in parts {
            let (product, overflow) = tokens.multipliedReportingOverflow(by: price)
            let (next, isOver) = sum.addingReportingOverflow(product)
            if overflow || isOver { return .max }
            sum = next
        }
        return sum / 1_000_000 + (sum % 1_000_000 == 0 ? 0 : 1)
    }
}

/// The prices of models by upstream and name.
///
/// A model without a price costs nothing, and its calls
/// count against budgets of tokens alone.
public struct PriceTable: Sendable, Equatable {
    private struct Key: Hashable {
        let upstream: String
        let model: String
    }

    private var prices: [Key: ModelPrice] = [:]

    /// Makes an empty table.
    public init() {}

    /// Sets the price of a model.
    ///
    /// - Parameters:
    ///   - price: the price.
    ///   - model: the model's name upstream.
    ///   - upstream: the upstream's name.
    public mutating func set(_ price: ModelPrice, model: String, upstream: String) {
        prices[Key(upstream: upstream, model: model)] = price
    }

    /// The price of a pin's model, or nothing.
    ///
    /// - Parameter pin: the pin.
    /// - Returns: the price.
    public func price(of pin: ModelPin) -> ModelPrice? {
        prices[Key(upstream: pin.upstream, model: pin.model)]
    }

    /// The cost of a usage under a pin in millionths of a dollar; 0 without a price.
    ///
    /// - Parameters:
    ///   - usage: what was used.
    ///   - pin: the pin that it was used under.
    /// - Returns: millionths of a dollar.
    public func cost(of usage: TokenUsage, under pin: ModelPin) -> Int {
        price(of: pin)?.cost(of: usage) ?? 0
    }
}

/// What one call to a model used.
public struct TokenUsage: Sendable, Equatable {
    /// Who counted.
    public enum Source: String, Sendable, CaseIterable {
        /// The provider said so.
        case provider
        /// Nobody said so: the bytes that were seen, four to a token.
        case count
    }

    /// Tokens of the input, those from a cache included.
    public var input: Int
    /// Tokens of the output, those of reasoning included.
    public var output: Int
    /// Tokens of the input that came from a cache.
    public var cachedInput: Int
    /// Who counted.
    public var source: Source

    /// Makes a usage; negative numbers count as 0.
    ///
    /// - Parameters:
    ///   - input: tokens of the input.
    ///   - output: tokens of the output.
    ///   - cachedInput: tokens of the input from a cache; at most all.
    ///   - source: who counted.
    public init(input: Int, output: Int, cachedInput: Int = 0, source: Source) {
        self.input = max(0, input)
        self.output = max(0, output)
        self.cachedInput = min(max(0, cachedInput), self.input)
        self.source = source
    }

    /// Both directions together.
    public var total: Int {
        let (sum, overflow) = input.addingReportingOverflow(output)
        return overflow ? .max : sum
    }
}

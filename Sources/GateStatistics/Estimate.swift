/// A mean over simulated campaigns, and how far it may be off.
public struct Estimate: Sendable, Equatable {
    /// The mean.
    public let mean: Double
    /// The standard error of the mean; 0 where there is but one number.
    public let standardError: Double

    /// Takes the mean of numbers.
    ///
    /// - Parameter values: the numbers; none of them give 0.
    public init(_ values: [Double]) {
        let count = Double(max(1, values.count))
        let mean = values.reduce(0, +) / count
        let squares = values.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
        self.mean = mean
        standardError = values.count > 1 ? (squares / (count - 1) / count).squareRoot() : 0
    }
}

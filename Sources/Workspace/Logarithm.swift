/// The logarithm that counts bits.
public enum Logarithm {
    /// The base-2 logarithm of a number that is at least 1, to twenty binary places; 0 for anything else.
    ///
    /// - Parameter value: how many things can be told apart.
    /// - Returns: the bits that say which.
    public static func base2(_ value: Double) -> Double {
        guard value >= 1, value.isFinite else { return 0 }
        var rest = value.significand
        var result = Double(value.exponent)
        var place = 0.5
        for _ in 0..<20 {
            rest *= rest
            if rest >= 2 {
                rest /= 2
                result += place
            }
            place /= 2
        }
        return result
    }
}

/// The sequence of SplitMix64 (Steele, Lea and Flood, 2014): reproducible, never for secrets.
///
/// Verdicts rest on it: a handicap is drawn from it, and who checks a decision draws it again. Every
/// version gives the same numbers.
package struct SeedStream: RandomNumberGenerator {
    private var state: UInt64

    /// Begins a sequence.
    ///
    /// - Parameter seed: two sequences of one seed are the same.
    package init(seed: UInt64) {
        state = seed
    }

    /// The next number of the sequence.
    package mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}

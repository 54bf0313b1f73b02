// TestSupport: what the tests of several targets share; never part of what ships.

/// SplitMix64: the whole course of a test follows from its seed.
///
/// A test that fails prints the seed, and the seed becomes the case.
package struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    /// Begins the course of a seed.
    package init(seed: UInt64) { state = seed }

    /// The next 64 bits.
    package mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var word = state
        word = (word ^ (word >> 30)) &* 0xbf58_476d_1ce4_e5b9
        word = (word ^ (word >> 27)) &* 0x94d0_49bb_1331_11eb
        return word ^ (word >> 31)
    }

    /// A number from 0 to below the limit.
    package mutating func below(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &self) }

    /// True in so many of a hundred cases.
    package mutating func chance(_ percent: Int) -> Bool { below(100) < percent }

    /// True in one of two cases.
    package mutating func flag() -> Bool { Bool.random(using: &self) }

    /// One of a list that is not empty.
    package mutating func pick<Element>(_ list: [Element]) -> Element { list[below(list.count)] }

    /// At most so many bytes.
    package mutating func bytes(_ limit: Int) -> [UInt8] {
        (0..<below(limit + 1)).map { _ in UInt8.random(in: 0...255, using: &self) }
    }

    /// At most so many characters, some of several bytes.
    package mutating func text(_ limit: Int) -> String {
        String((0..<below(limit + 1)).map { _ in pick(Array("abc/._-= äß漢🙂\n\"")) })
    }
}

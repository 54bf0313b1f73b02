internal import Foundation

/// How one channel between two sandboxes is made and read.
public struct PairChannel: Sendable, Equatable {
    /// The program's name for it.
    public let name: String
    /// What the sender moves a counter by for each step of a value of four bits; absent where the
    /// channel carries 2,048 bits at once.
    public let step: Int?
    /// Whether the receiver is there before the sender, and frozen while the sender runs, as a coding
    /// agent is during a sealed exam.
    public let isLive: Bool
    /// What stays open and is known to, in bits a hand-over; absent where nothing may.
    public let declaredBits: Int?

    /// Bits that a channel of bytes carries at once.
    public static let bitsAtOnce = 2048
    /// Bits that a counter carries in a round.
    public static let bitsARound = 4

    /// The bits that the sender makes of a seed (splitmix64), in the program's order.
    public static func message(_ seed: UInt64) -> [Bool] {
        (0..<bitsAtOnce).map { index in
            var z = seed &+ UInt64(index + 1) &* 0x9e37_79b9_7f4a_7c15
            z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
            z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
            return (z ^ (z >> 31)) & 1 != 0
        }
    }
}

/// What a receiver understood.
public struct PairMeasurement: Sendable, Equatable {
    /// Bits that were sent.
    public let bits: Int
    /// Bits that it got wrong; absent where it could read nothing at all.
    public let errors: Int?

    /// A receiver that could read nothing.
    public static func unreadable(bits: Int) -> PairMeasurement {
        PairMeasurement(bits: bits, errors: nil)
    }

    private init(bits: Int, errors: Int?) {
        self.bits = bits
        self.errors = errors
    }

    /// Compares bytes that a receiver got at once with the message of a seed.
    public init(received: [UInt8], seed: UInt64) {
        let message = PairChannel.message(seed)
        let wrong = message.indices.count { index in
            let byte = index / 8 < received.count ? received[index / 8] : 0
            return (byte >> UInt8(index % 8) & 1 != 0) != message[index]
        }
        self.init(bits: message.count, errors: wrong)
    }

    /// Compares how far a counter went in each round with the value that was sent.
    ///
    /// The first round sends nothing: what the counter moves by then, it moves by itself.
    public init(differences: [Int], seeds: [UInt64], step: Int) {
        let offset = differences.first ?? 0
        var wrong = 0
        for (difference, seed) in zip(differences.dropFirst(), seeds.dropFirst()) {
            let rounded = (Double(difference - offset) / Double(step)).rounded()
            let value = UInt64(min(max(rounded, 0), 15))
            wrong += (value ^ (seed & 15)).nonzeroBitCount
        }
        self.init(bits: PairChannel.bitsARound * max(0, seeds.count - 1), errors: wrong)
    }

    /// The share of wrong bits.
    public var errorRate: Double? { errors.map { Double($0) / Double(max(bits, 1)) } }

    /// Whether the receiver does no better than guessing: 45 to 55 %, or four standard deviations
    /// where there are so few bits that chance alone goes further.
    public var isNoise: Bool {
        guard let errorRate else { return true }
        return abs(errorRate - 0.5) <= max(0.05, 2 / Double(max(bits, 1)).squareRoot())
    }

    /// Whether the receiver understood: at most one bit in ten is wrong.
    public var isUnderstood: Bool { errorRate.map { $0 <= 0.1 } ?? false }

    /// What a code could carry over the channel, in bits: those sent, less the entropy of the errors.
    public var capacity: Double {
        guard let errorRate, !isNoise else { return 0 }
        let p = min(max(errorRate, 1e-9), 1 - 1e-9)
        let entropy = -p * log2(p) - (1 - p) * log2(1 - p)
        return Double(bits) * (1 - entropy)
    }

    /// The measurement in words.
    public var text: String {
        guard let errorRate else { return "nothing to read" }
        let tenths = Int((errorRate * 1000).rounded())
        return "\(tenths / 10).\(tenths % 10) % errors in \(bits) bits"
    }
}

import RedTeam
import Testing

@Suite("What a receiver understood")
struct PairTests {
    private static let seed: UInt64 = 12345

    private static func message() -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: PairChannel.bitsAtOnce / 8)
        for (index, bit) in PairChannel.message(seed).enumerated() where bit {
            bytes[index / 8] |= 1 << UInt8(index % 8)
        }
        return bytes
    }

    @Test("the catalogue declares no channel open that a release would have to count")
    func declared() {
        #expect(Catalogue.all.allSatisfy { $0.declaredBits == nil })
    }

    @Test("the whole message is understood, and carries all its bits")
    func understood() {
        // The first bytes that the program in C makes of the same seed.
        #expect(Self.message().starts(with: [0x16, 0x27, 0xd8, 0x0f]))
        let measurement = PairMeasurement(received: Self.message(), seed: Self.seed)
        #expect(measurement.errors == 0 && measurement.isUnderstood && !measurement.isNoise)
        #expect(measurement.capacity.rounded() == 2048)
    }

    @Test("the opposite of the message carries as much as the message")
    func inverted() {
        let opposite = PairMeasurement(received: Self.message().map { ~$0 }, seed: Self.seed)
        #expect(opposite.errorRate == 1 && !opposite.isNoise && opposite.capacity.rounded() == 2048)
    }

    @Test("guesses are noise and carry nothing, and so does silence")
    func noise() {
        let guesses = PairMeasurement(
            received: [UInt8](repeating: 0x55, count: 256),
            seed: Self.seed
        )
        #expect(guesses.isNoise && guesses.capacity == 0 && !guesses.isUnderstood)
        let silence = PairMeasurement.unreadable(bits: 2048)
        #expect(silence.isNoise && silence.capacity == 0 && silence.errorRate == nil)
    }

    @Test("one bit in five wrong is neither understood nor noise")
    func between() {
        var bytes = Self.message()
        for index in 0..<PairChannel.bitsAtOnce where index % 5 == 0 {
            bytes[index / 8] ^= 1 << UInt8(index % 8)
        }
        let measurement = PairMeasurement(received: bytes, seed: Self.seed)
        #expect(!measurement.isUnderstood && !measurement.isNoise)
        #expect(measurement.capacity > 500 && measurement.capacity < 620)
    }

    @Test("a counter is read by how far it went beyond what it goes by itself")
    func counters() {
        let seeds: [UInt64] = [16, 3, 12, 15, 0]
        let moved = PairMeasurement(
            differences: [40, 40 + 3 * 64, 42 + 12 * 64, 38 + 15 * 64, 41],
            seeds: seeds,
            step: 64
        )
        #expect(moved.bits == 16 && moved.errors == 0)
        let still = PairMeasurement(differences: [1, 1, 1, 1, 1], seeds: seeds, step: 64)
        #expect(still.errorRate == 0.5 && still.isNoise)
    }
}

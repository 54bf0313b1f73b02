import Foundation
import HostKernel
import LinuxKernel
import Testing

@Suite("Noise that hides what was taken from the host's counters", .serialized)
struct CounterNoiseTests {
    @Test(
        "the range is D / (2^b - 1), rounded up",
        arguments: [
            (14_848, 0.05, 421_042), (0, 0.05, 0), (1, 1, 1), (1000, 1, 1000), (1000, 2, 334),
        ] as [(UInt64, Double, UInt64)]
    )
    func range(most: UInt64, bits: Double, expected: UInt64) {
        #expect(CounterNoise.range(hiding: most, within: bits) == expected)
    }

    @Test("an amount that no counter can hide is refused")
    func tooMuch() {
        #expect(CounterNoise.range(hiding: .max, within: 1e-9) == nil)
        #expect(throws: SystemError.self) {
            try CounterNoise(.init(inodes: 1 << 30, sharedMemory: 0), bits: 0.01)
        }
    }

    /// The mutual information of a message and its sum with uniform noise, in bits.
    private func information(of weights: [Double], range: Int) -> Double {
        let total = weights.reduce(0, +)
        var sums = [Double](repeating: 0, count: weights.count + range - 1)
        for (value, weight) in weights.enumerated() {
            for noise in 0..<range { sums[value + noise] += weight / total / Double(range) }
        }
        let entropy = sums.filter { $0 > 0 }.reduce(0) { $0 - $1 * log2($1) }
        return entropy - log2(Double(range))
    }

    // The writer chooses how often it sends what; the bound holds for every choice.
    @Test("a sum tells at most the bits that its range was made for, whatever the writer's code is")
    func bound() throws {
        var random = SystemRandomNumberGenerator()
        for bits in [0.05, 0.3, 1, 2.5] {
            for most in [1, 7, 40] {
                let range = try #require(CounterNoise.range(hiding: UInt64(most), within: bits))
                var codes = [
                    [Double](repeating: 1, count: most + 1),
                    [1] + [Double](repeating: 0, count: most - 1) + [1],
                ]
                for _ in 0..<20 {
                    codes.append((0...most).map { _ in .random(in: 0...1, using: &random) })
                }
                // The instrument works: with hardly any noise the sum tells nearly all of the message.
                #expect(information(of: codes[1], range: 1) > 0.99)
                for code in codes {
                    let told = information(of: code, range: max(1, Int(range)))
                    #expect(told <= bits + 1e-9, "\(told) of \(bits), D = \(most), W = \(range)")
                }
            }
        }
    }

    @Test("moving takes as long as the largest amount would, and leaves the thread its processors")
    func moving() throws {
        let processors = try ProcessorSet.current().single.count
        let noise = try CounterNoise(.init(inodes: 4096, sharedMemory: 512), bits: 4)
        let before = try ObjectCounter.inode.next()
        var moving = try noise.moving()
        var steps = 0
        while try moving.next() != nil { steps += 1 }
        #expect(steps > 0)
        #expect(try ObjectCounter.inode.next() &- before > 0)
        #expect(try ProcessorSet.current().single.count == processors)
    }
}

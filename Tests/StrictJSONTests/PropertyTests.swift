import StrictJSON
import TestSupport
import Testing

@Suite("Properties over a seeded generator")
struct PropertyTests {
    @Test("every value survives writing and reading, in both layouts", arguments: 0..<40)
    func roundTrip(seed: Int) throws {
        var generator = SeededGenerator(seed: UInt64(seed))
        for _ in 0..<50 {
            let value = generator.value(depth: 4)
            let bytes = value.canonicalBytes
            let read = try JSONValue(parsing: bytes, limits: .frame)
            #expect(read == value, "seed \(seed)")
            #expect(read.canonicalBytes == bytes, "seed \(seed)")
            #expect(try parse(value.prettyText()) == value, "seed \(seed)")
        }
    }

    @Test("every finite number survives writing and reading", arguments: 0..<10)
    func numbers(seed: Int) throws {
        var generator = SeededGenerator(seed: UInt64(seed) &+ 1_000)
        for _ in 0..<1_000 {
            let number = generator.double()
            let bytes = JSONValue.number(number).canonicalBytes
            let read = try JSONValue(parsing: bytes, limits: .frame)
            let value = try #require(read.numberValue)
            #expect(value == number, "seed \(seed)")
            #expect(read.canonicalBytes == bytes, "seed \(seed)")
        }
    }

    @Test("a mutated text is read or refused, and what is read has a canonical form")
    func mutations() throws {
        var generator = SeededGenerator(seed: 7)
        var refused = 0
        for round in 0..<4_000 {
            var bytes = generator.value(depth: 4).canonicalBytes
            for _ in 0...generator.below(3) { mutate(&bytes, &generator) }
            do throws(JSONError) {
                let value = try JSONValue(parsing: bytes, limits: .frame)
                let canonical = value.canonicalBytes
                let again = try JSONValue(parsing: canonical, limits: .frame)
                #expect(again.canonicalBytes == canonical, "round \(round)")
            } catch {
                refused += 1
                #expect(error.description.contains("remedy"))
            }
        }
        #expect(refused > 1_000)
    }

    @Test("random bytes are read or refused")
    func noise() {
        var generator = SeededGenerator(seed: 11)
        let alphabet = Array(#"[]{}:,"\ u0123456789eE+-.truefalsn"#.utf8) + [0, 0x80, 0xFF, 0xED]
        for _ in 0..<20_000 {
            let bytes = (0..<generator.below(24)).map { _ in
                alphabet[generator.below(alphabet.count)]
            }
            do throws(JSONError) {
                let value = try JSONValue(parsing: bytes, limits: .frame)
                #expect(!value.canonicalBytes.isEmpty)
            } catch {
                #expect(!error.description.isEmpty)
            }
        }
    }

    private func mutate(_ bytes: inout [UInt8], _ generator: inout SeededGenerator) {
        guard !bytes.isEmpty else { return }
        let place = generator.below(bytes.count)
        switch generator.below(4) {
        case 0: bytes[place] = UInt8(truncatingIfNeeded: generator.next())
        case 1: bytes.remove(at: place)
        case 2: bytes.insert(UInt8(truncatingIfNeeded: generator.next()), at: place)
        default: bytes.removeSubrange(place...)
        }
    }
}

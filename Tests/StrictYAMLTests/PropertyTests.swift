import StrictYAML
import TestSupport
import Testing

@Suite("Properties over generated documents")
struct PropertyTests {
    @Test("every document that is written is read as it was meant", arguments: 0..<40)
    func roundTrip(seed: Int) {
        var generator = SeededGenerator(seed: UInt64(seed))
        for _ in 0..<50 {
            let shape = generator.shape(depth: 4)
            for text in [shape.flow, shape.block(indent: 0)] {
                let found = read(text, limit: 1 << 20) { Shape($0) }
                #expect(found.value == shape, "seed \(seed): \(text)")
                #expect(found.problems.isEmpty, "seed \(seed): \(found.problems)")
            }
        }
    }

    @Test("every key and every item stands on its line")
    func lines() {
        var generator = SeededGenerator(seed: 41)
        for round in 0..<200 {
            let lines = (0...generator.below(20)).map { index in
                "key\(index): \(generator.flag() ? "[a, {b: c}]" : "text")"
            }
            let found = read(lines.joined(separator: "\n")) { $0.entries() }
            #expect(found.value?.map(\.key.place.line) == Array(1...lines.count), "round \(round)")
            for entry in found.value ?? [] {
                guard case .list(let items) = entry.value.content else { continue }
                #expect(items.map(\.place.line) == [entry.key.place.line, entry.key.place.line])
                #expect(items.map(\.place.key) == ["\(entry.name)[0]", "\(entry.name)[1]"])
            }
        }
    }

    @Test("a mapping in which one key stands twice is refused, however it is spelled")
    func duplicates() {
        var generator = SeededGenerator(seed: 42)
        for round in 0..<300 {
            var keys = (0..<(2 + generator.below(6))).map { "\(generator.below(2000) * 10 + $0)" }
            let twice = generator.pick(keys)
            keys.insert(twice, at: generator.below(keys.count + 1))
            let entries = keys.map { generator.flag() ? "\($0): x" : "\"\($0)\": x" }
            let found = read("{\(entries.joined(separator: ", "))}") { $0 }
            #expect(found.value == nil, "round \(round): \(entries)")
            #expect(found.problems.contains { $0.reason.hasPrefix("duplicate key") })
        }
    }

    @Test("a mutated document is read or refused with a line that it has")
    func mutations() {
        var generator = SeededGenerator(seed: 43)
        let alphabet = Array("{}[]:,&*!|>-#\"' \n\t0aZ\u{0}".utf8) + [0xff]
        var refused = 0
        for round in 0..<3_000 {
            var bytes = Array(generator.shape(depth: 3).block(indent: 0).utf8)
            for _ in 0...generator.below(3) where !bytes.isEmpty {
                bytes[generator.below(bytes.count)] = generator.pick(alphabet)
            }
            let lines = bytes.count { $0 == 0x0A } + 2
            let found = read(bytes, limit: 1 << 20) { Shape($0) }
            #expect((found.value == nil) == !found.problems.isEmpty, "round \(round)")
            #expect(found.problems.allSatisfy { (1...lines).contains($0.line) }, "round \(round)")
            refused += found.problems.isEmpty ? 0 : 1
        }
        #expect(refused > 500 && refused < 3_000)
    }
}

extension SeededGenerator {
    /// A generated document: scalars of all kinds in lists and mappings.
    fileprivate mutating func shape(depth: Int) -> Shape {
        switch depth == 0 ? 0 : below(3) {
        case 1: .list((0..<below(4)).map { _ in shape(depth: depth - 1) })
        case 2:
            .mapping(
                (0..<below(5)).map { Shape.Pair(key: "k\($0)", value: shape(depth: depth - 1)) }
            )
        default:
            if flag() {
                .scalar(pick(["5", "true", "word", "0x1F", "90s", "null"]), isPlain: true)
            } else {
                .scalar(pick(["", "a: b", "# no comment", "*x", "5", text(12)]), isPlain: false)
            }
        }
    }
}

extension Shape {
    /// The document on one line.
    fileprivate var flow: String {
        switch self {
        case .scalar(let text, true): text
        case .scalar(let text, false): Self.quoted(text)
        case .list(let items): "[\(items.map(\.flow).joined(separator: ", "))]"
        case .mapping(let pairs):
            "{\(pairs.map { "\($0.key): \($0.value.flow)" }.joined(separator: ", "))}"
        }
    }

    /// The document in indented lines.
    fileprivate func block(indent: Int) -> String {
        let space = String(repeating: " ", count: indent)
        switch self {
        case .list(let items) where !items.isEmpty:
            return items.map { "\n\(space)- \($0.block(indent: indent + 2))" }.joined()
        case .mapping(let pairs) where !pairs.isEmpty:
            return pairs.map { "\n\(space)\($0.key): \($0.value.block(indent: indent + 2))" }
                .joined()
        case .scalar, .list, .mapping: return flow
        }
    }

    private static func quoted(_ text: String) -> String {
        let escaped = text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
            .replacing("\n", with: "\\n")
        return "\"\(escaped)\""
    }
}

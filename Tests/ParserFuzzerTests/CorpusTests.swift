import Foundation
import ParserFuzzer
import TestSupport
import Testing

@Suite("The fuzzer's corpus")
struct CorpusTests {
    private static let corpus = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().appending(path: "Corpus")

    private static func inputs(of surface: FuzzSurface) throws -> [[UInt8]] {
        try FileManager.default
            .contentsOfDirectory(
                at: corpus.appending(path: surface.rawValue),
                includingPropertiesForKeys: nil
            )
            .sorted { $0.path < $1.path }
            .map { Array(try Data(contentsOf: $0)) }
    }

    @Test(
        "every surface has inputs, and what is kept does not end a parser",
        arguments: FuzzSurface.allCases
    )
    func replay(surface: FuzzSurface) throws {
        let inputs = try Self.inputs(of: surface)
        #expect(!inputs.isEmpty)
        for input in inputs { surface.feed(input) }
    }

    @Test(
        "kept inputs with a byte changed, cut or doubled do not end a parser",
        arguments: FuzzSurface.allCases
    )
    func mutants(surface: FuzzSurface) throws {
        var generator = SeededGenerator(seed: 20_261_122)
        for input in try Self.inputs(of: surface) where !input.isEmpty {
            for _ in 0..<40 {
                var mutant = input
                let place = Int.random(in: mutant.indices, using: &generator)
                switch Int.random(in: 0..<3, using: &generator) {
                case 0: mutant[place] = .random(in: .min ... .max, using: &generator)
                case 1: mutant.removeSubrange(place...)
                default: mutant.insert(contentsOf: mutant[place...].prefix(64), at: place)
                }
                surface.feed(mutant)
            }
        }
    }

    @Test(
        "of every surface something is taken, so its mutants reach beyond the first refusal",
        arguments: FuzzSurface.allCases
    )
    func instrument(surface: FuzzSurface) throws {
        #expect(try Self.inputs(of: surface).contains { surface.feed($0) })
    }
}

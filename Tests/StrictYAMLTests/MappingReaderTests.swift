import StrictYAML
import Testing

@Suite("Reading mappings key by key")
struct MappingReaderTests {
    private func problems(
        _ text: String,
        guide: String? = nil,
        _ take: (inout MappingReader) -> Void
    ) -> [DocumentProblem] {
        read(text, guide: guide) { top -> Int? in
            guard var reader = top.mapping() else { return nil }
            take(&reader)
            reader.finish()
            return nil
        }.problems
    }

    @Test("every key that nobody asked for is refused where it stands")
    func unknown() {
        let found = problems("a: 1\nb: 2\nc: 3\n") { _ = $0.optional("b") }
        #expect(found.map(\.key) == ["a", "c"])
        #expect(found.map(\.line) == [1, 3])
        #expect(found.allSatisfy { $0.reason == "the key is unknown" })
    }

    @Test(
        "the key that was probably meant is named",
        arguments: [
            ("treshold", "threshold"), ("thresholds", "threshold"), ("Threshold", "threshold"),
            ("thershold", "threshold"), ("thre5hold", "threshold"),
            ("train_runs", "train-runs"), ("TRAIN-RUNS", "train-runs"),
        ]
    )
    func near(key: String, meant: String) {
        let found = problems("\(key): 1", guide: "G.md") {
            _ = $0.optional("threshold")
            _ = $0.optional("train-runs")
        }
        #expect(found.map(\.remedy) == ["write «\(meant)»"])
    }

    @Test("of a key that is like no other, the known ones are listed, and their description")
    func far() {
        let take: (inout MappingReader) -> Void = {
            _ = $0.optional("wall")
            _ = $0.optional("idle")
        }
        #expect(problems("x: 1", take).map(\.remedy) == ["remove it; known here: idle, wall"])
        #expect(
            problems("x: 1", guide: "G.md", take).map(\.remedy)
                == ["remove it; known here: idle, wall; every key is described in G.md"]
        )
    }

    @Test("a key that is missing is named, with its mapping's line")
    func missing() {
        let found = problems("a: 1\nb:\n  c: 2\n", guide: "G.md") { reader in
            _ = reader.required("a")
            var inner = reader.optional("b")?.mapping()
            _ = inner?.optional("c")
            _ = inner?.required("d")
        }
        #expect(found.map(\.key) == ["b.d"])
        #expect(found.map(\.line) == [3])
        #expect(found.map(\.reason) == ["the key is missing"])
        #expect(found.map(\.remedy) == ["add «d: …»; every key is described in G.md"])
    }

    @Test("a key is given out once; what is left are free names")
    func once() {
        let found = problems("b: 1\na: 2\nc: 3\n") { reader in
            #expect(reader.has("b"))
            #expect(reader.peek("b") != nil)
            #expect(reader.optional("b") != nil)
            #expect(!reader.has("b") && reader.peek("b") == nil && reader.optional("b") == nil)
            #expect(reader.remainingKeys == ["a", "c"])
        }
        #expect(found.map(\.key) == ["a", "c"])
    }

    @Test("what is no mapping has no reader", arguments: ["[a]", "text", "5", "~"])
    func noMapping(text: String) {
        let found = read(text) { $0.mapping() }
        #expect(found.value == nil)
        #expect(found.problems.count == 1)
        #expect(found.problems.first?.reason.hasPrefix("expected a mapping, found") == true)
    }
}

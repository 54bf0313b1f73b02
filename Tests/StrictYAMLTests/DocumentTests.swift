import StrictYAML
import Testing

@Suite("Documents as nodes with places")
struct DocumentTests {
    private func reasons(_ text: String) -> [String] {
        read(text) { $0 }.problems.map(\.reason)
    }

    @Test("texts, lists and mappings are read in their order, quotes remembered")
    func shapes() {
        let text = "a: 1\nb: [x, \"2\"]\nc:\n  d: |\n    e\n"
        let found = read(text) { Shape($0) }
        #expect(found.problems.isEmpty)
        #expect(
            found.value
                == .mapping([
                    .init(key: "a", value: .scalar("1", isPlain: true)),
                    .init(
                        key: "b",
                        value: .list([.scalar("x", isPlain: true), .scalar("2", isPlain: false)])
                    ),
                    .init(
                        key: "c",
                        value: .mapping([.init(key: "d", value: .scalar("e\n", isPlain: false))])
                    ),
                ])
        )
    }

    @Test("every node knows its line and its dotted key")
    func places() throws {
        let text = "a:\n  b:\n    - x\n    - {c: y}\n"
        let places = read(text) { top -> [DocumentPlace]? in
            var outer = top.mapping()
            var inner = outer?.optional("a")?.mapping()
            let items = inner?.optional("b")?.items() ?? []
            return items.map(\.place) + (items.last?.entries() ?? []).map(\.value.place)
        }
        #expect(
            places.value == [
                DocumentPlace(line: 3, key: "a.b[0]"), DocumentPlace(line: 4, key: "a.b[1]"),
                DocumentPlace(line: 4, key: "a.b[1].c"),
            ]
        )
    }

    @Test("a problem says file, line, key, operation, reason and remedy")
    func description() {
        let found = read("a:\n  b: x\n") { top -> Int? in
            var outer = top.mapping()
            var inner = outer?.optional("a")?.mapping()
            return inner?.optional("b")?.integer(in: 1...5)
        }
        #expect(
            found.problems.map(\.description) == [
                "f.yaml:2: a.b: read it: expected a whole number, found a text; "
                    + "remedy: write a whole number from 1 to 5, without quotes"
            ]
        )
    }

    @Test(
        "anchors and aliases are refused wherever they stand, on their own line",
        arguments: [
            ("a: &x 1\n", [1]), ("a: &x 1\nb: *x\n", [1, 2]), ("&x a: 1\n", [1]),
            ("a: 1\nb: &x {c: d}\n", [2]), ("a: &x [1]\nb:\n  - *x\n", [1, 3]),
            ("&top\na: 1\n", [1]), ("a: {&x b: c}\n", [1]),
        ]
    )
    func anchors(text: String, lines: [Int]) {
        let problems = read(text) { $0 }.problems
        #expect(problems.map(\.line) == lines, "\(problems)")
        #expect(problems.allSatisfy { $0.reason == "anchors and aliases are refused" })
    }

    @Test(
        "what YAML allows and no document needs is refused",
        arguments: [
            ("a: !secret b", "tags"), ("!x a: b", "tags"), ("a: [!x {}]", "tags"),
            ("a: 1\na: 2", "duplicate key"), ("{a: {b: 1, b: 2}}", "duplicate key"),
            ("1: a\n\"1\": b", "duplicate key"), ("true: a\n'true': b", "duplicate key"),
            ("{? [a, b] : c}", "plain text"), ("a: 1\n---\nb: 2", "document"),
            ("a: *x", "undefined alias"), ("a: &x [*x]", "undefined alias"), ("a: [", "expected"),
            ("\ta: 1", "token"),
        ]
    )
    func unusual(text: String, reason: String) {
        #expect(reasons(text).contains { $0.contains(reason) }, "\(reasons(text))")
        #expect(read(text) { $0 }.value == nil)
    }

    @Test("documents that are too large, too deep, empty or no text are refused")
    func unreadable() {
        #expect(read("a: 1", limit: 4) { $0 }.problems.isEmpty)
        #expect(
            read("a: 1\n", limit: 4) { $0 }.problems.map(\.reason) == ["the document has 5 bytes"]
        )
        #expect(read([0xff, 0xfe]) { $0 }.problems.first?.reason.contains("UTF-8") == true)
        #expect(read([97, 0]) { $0 }.problems.first?.reason.contains("UTF-8") == true)
        #expect(reasons("") == ["the document is empty"])
        #expect(reasons("# nothing but a comment\n") == ["the document is empty"])
        func nested(_ levels: Int) -> String {
            String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
        }
        #expect(reasons(nested(YAMLDocument.maximumDepth)).isEmpty)
        #expect(reasons(nested(YAMLDocument.maximumDepth + 1)) == ["nested too deeply"])
    }

    @Test("a name from outside is shown in printable characters, and cut")
    func names() {
        let key = "\"\\e[31m" + String(repeating: "x", count: 200) + "\""
        let problem = read("\(key): [1, 2]") { top -> Int? in
            top.entries()?.first?.value.integer(in: 0...9)
        }.problems.first
        #expect(problem?.key.hasPrefix("?[31mxxx") == true)
        #expect(problem?.key.utf8.count == 120)
    }

    @Test("problems are told by file and line, on one line in the order of finding")
    func order() {
        let list = ProblemList(file: "b", operation: "o")
        list.add(DocumentPlace(line: 2, key: "second"), "r", remedy: "m")
        list.add(DocumentPlace(line: 2, key: "third"), "r", remedy: "m")
        list.add(DocumentPlace(line: 1, key: "first"), "r", remedy: "m")
        list.add(DocumentPlace(line: 9, key: "other"), of: "a", "r", remedy: "m")
        #expect(list.sorted.map(\.key) == ["other", "first", "second", "third"])
        #expect(list.sorted.map(\.file) == ["a", "b", "b", "b"])
        #expect(!list.isEmpty)
    }
}

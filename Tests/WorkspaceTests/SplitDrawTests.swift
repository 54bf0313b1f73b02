import ExamResults
import Testing
import Workspace

@Suite("The drawn split")
struct SplitDrawTests {
    private let key = [UInt8](repeating: 7, count: 32)

    private func tasks(_ sizes: [String: Int]) throws -> [(id: TaskID, family: String)] {
        try sizes.flatMap { family, count in
            try (0..<count).map { (id: try TaskID("\(family)-\($0)"), family: family) }
        }
    }

    @Test("about 70 of 100 tasks go to train and every family is on both sides")
    func shares() throws {
        let sizes = ["a": 10, "b": 9, "c": 11, "d": 2, "e": 30, "f": 33]
        let split = try SplitDraw(of: try tasks(sizes), key: key)
        #expect(split.train.count + split.test.count == 95)
        #expect((27...30).contains(split.test.count))
        for family in sizes.keys {
            #expect(split.train.contains { $0.text.hasPrefix("\(family)-") })
            #expect(split.test.contains { $0.text.hasPrefix("\(family)-") })
        }
        #expect(Set(split.train).isDisjoint(with: split.test))
    }

    @Test("the same key draws the same split from any order; another key draws another")
    func determinism() throws {
        let listed = try tasks(["a": 20, "b": 20])
        let split = try SplitDraw(of: listed, key: key)
        #expect(try SplitDraw(of: listed.reversed(), key: key) == split)
        #expect(try SplitDraw(of: listed, key: [UInt8](repeating: 8, count: 32)) != split)
    }

    @Test("a family of one task, a task that occurs twice and a short key are refused")
    func refusals() throws {
        let lonely = try tasks(["a": 3, "b": 1])
        #expect(throws: WorkspaceError.self) { try SplitDraw(of: lonely, key: key) }
        let twice = try tasks(["a": 3]) + tasks(["a": 3])
        #expect(throws: WorkspaceError.self) { try SplitDraw(of: twice, key: key) }
        let fine = try tasks(["a": 3])
        #expect(throws: WorkspaceError.self) { try SplitDraw(of: fine, key: [1, 2, 3]) }
    }

    @Test("A12: the commitment binds the split and hides it behind its salt")
    func commitment() throws {
        let split = try SplitDraw(of: try tasks(["a": 20]), key: key)
        let salt = [UInt8](repeating: 1, count: 32)
        #expect(split.commitment(salt: salt) == split.commitment(salt: salt))
        #expect(split.commitment(salt: salt) != split.commitment(salt: key))
        #expect(split.commitment(salt: salt).utf8.count == 64)
    }

    @Test("each split's file holds its own tasks and what is shared")
    func files() throws {
        let text = """
            {"desk":{"orders":[1]},"tasks":[{"id":"b","family":"x","gold":2},{"id":"a","family":"x"}]}
            """
        let catalog = try TaskCatalog(parsing: Array(text.utf8), file: "tasks.json")
        #expect(catalog.entries.map(\.id.text) == ["a", "b"])
        let file = String(decoding: catalog.file(of: [try TaskID("b")]), as: UTF8.self)
        #expect(
            file == #"{"desk":{"orders":[1]},"tasks":[{"family":"x","gold":2,"id":"b"}]}"#
        )
    }

    @Test(
        "a file of tasks without ids, with an id twice or that is no JSON is refused",
        arguments: [
            "[]", "{}", #"{"tasks":[{"family":"x"}]}"#, #"{"tasks":[{"id":"a"}]}"#,
            #"{"tasks":[{"id":"a","family":"x"},{"id":"a","family":"x"}]}"#,
            #"{"tasks":[{"id":"../a","family":"x"}]}"#, #"{"tasks":[{"id":"a","family":"x y"}]}"#,
        ]
    )
    func badCatalogs(text: String) {
        #expect(throws: WorkspaceError.self) {
            try TaskCatalog(parsing: Array(text.utf8), file: "tasks.json")
        }
    }
}

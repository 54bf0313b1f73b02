import StrictYAML
import Testing
import Workspace

@Suite("A benchmark's manifest")
struct BenchmarkManifestTests {
    static let whole = """
        benchmark: helpdesk
        version: 1
        title: A help desk
        examiner: { command: [/usr/bin/python3, -I, /examiner/examiner.py], files: [examiner.py] }
        tasks: tasks.json
        candidate: { command: [/usr/bin/python3, -I, /candidate/run.py], files: [run.py, lib/shim.py] }
        agent: agent.py
        program: PROGRAM.md
        limits: { turns: 30, seconds: 20 }
        deterministic: true
        floors: { do-nothing: floors/do_nothing.py, dump-everything: floors/dump_everything.py }
        conformance: { oracle: tests/oracle.py }
        shim: python
        """

    private func problems(_ text: String) -> [String] {
        do {
            _ = try BenchmarkManifest(parsing: Array(text.utf8), file: "benchmark.yaml")
            return []
        } catch WorkspaceError.document(let found) {
            return found.map(\.key)
        } catch {
            return ["\(error)"]
        }
    }

    @Test("a whole manifest is read, and lists every file that it names")
    func whole() throws {
        let manifest = try BenchmarkManifest(
            parsing: Array(Self.whole.utf8),
            file: "benchmark.yaml"
        )
        #expect(manifest.benchmark == "helpdesk")
        #expect(manifest.limits.turns == 30)
        #expect(manifest.isDeterministic)
        #expect(manifest.floors.keys.sorted() == ["do-nothing", "dump-everything"])
        #expect(manifest.allFiles.count == 9)
        #expect(manifest.shim == "python")
    }

    @Test("each missing key is a problem of its own")
    func missing() {
        let keys = ["version", "title", "tasks", "agent", "program", "deterministic", "limits"]
        for key in keys {
            let text = Self.whole.split(separator: "\n").filter { !$0.hasPrefix("\(key):") }
            #expect(problems(text.joined(separator: "\n")) == [key])
        }
        #expect(problems("benchmark: x").count == 9)
    }

    @Test(
        "a path that leaves the directory, or could, is refused",
        arguments: ["/etc/passwd", "../gold.json", "lib/../../x", "lib//x", ".", "a b.py", "ü.py"]
    )
    func paths(path: String) {
        let text = Self.whole.replacing("tasks: tasks.json", with: "tasks: \"\(path)\"")
        #expect(problems(text) == ["tasks"])
    }

    @Test("a file of the examiner may not be in the candidate's sandbox")
    func separation() {
        let text = Self.whole.replacing("[run.py, lib/shim.py]", with: "[run.py, examiner.py]")
        #expect(problems(text) == ["candidate.files"])
        let gold = Self.whole.replacing("[run.py, lib/shim.py]", with: "[run.py, tasks.json]")
        #expect(problems(gold) == ["candidate.files"])
    }

    @Test("a relative command and an unknown key are refused")
    func commandAndKey() {
        let text = Self.whole.replacing("[/usr/bin/python3, -I, /exam", with: "[python3, -I, /exam")
        #expect(problems(text) == ["examiner.command"])
        #expect(problems(Self.whole + "\nnetwork: true\n") == ["network"])
    }

    @Test("an alias, which is refused, stands for nothing")
    func alias() {
        let text = Self.whole.replacing("version: 1", with: "version: &v 1")
        #expect(text != Self.whole)
        #expect(problems(text) == ["version"])
    }
}

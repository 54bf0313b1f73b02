import Foundation
import Testing
import Workspace

@Suite("The shipped documents")
struct ShippedDocumentsTests {
    private func bytes(_ path: String, file: String = #filePath) throws -> [UInt8] {
        let root = URL(fileURLWithPath: file).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        return Array(try Data(contentsOf: root.appendingPathComponent("templates/\(path)")))
    }

    @Test("helpdesk's manifest, its tasks and the Python shim are read")
    func helpdesk() throws {
        let manifest = try BenchmarkManifest(
            parsing: try bytes("benchmarks/helpdesk/benchmark.yaml"),
            file: "benchmark.yaml"
        )
        #expect(manifest.benchmark == "helpdesk")
        for file in manifest.allFiles {
            #expect(try !bytes("benchmarks/helpdesk/\(file.text)").isEmpty, "\(file)")
        }
        let shim = try ShimManifest(parsing: try bytes("python/shim.yaml"), file: "shim.yaml")
        #expect(shim.shim == manifest.shim)
        let tasks = try TaskCatalog(
            parsing: try bytes("benchmarks/helpdesk/tasks.json"),
            file: "tasks.json"
        )
        #expect(tasks.entries.count >= 90)
        #expect(Set(tasks.entries.map(\.family)).count >= 9)
        let split = try SplitDraw(
            of: tasks.entries.map { ($0.id, $0.family) },
            key: [UInt8](repeating: 3, count: 32)
        )
        #expect(abs(Double(split.test.count) / Double(tasks.entries.count) - 0.3) < 0.02)
    }

    @Test("the scripted agent's profile is read, and its files are there")
    func profile() throws {
        let folder = "coding-agents/scripted"
        let profile = try CodingAgentProfile(
            parsing: try bytes("\(folder)/profile.yaml"),
            file: "profile.yaml"
        )
        #expect(profile.name == "scripted")
        #expect(profile.directory == "/work")
        for file in profile.files {
            #expect(try !bytes("\(folder)/\(file.text)").isEmpty, "\(file)")
        }
    }

    @Test("a profile with a relative command or an unknown key is refused with every problem")
    func badProfile() {
        let text = """
            coding_agent: x
            version: 1
            title: t
            files: [../a.py]
            command: [python3]
            cwd: work
            network: true
            """
        do {
            _ = try CodingAgentProfile(parsing: Array(text.utf8), file: "profile.yaml")
            Issue.record("it was read")
        } catch WorkspaceError.document(let found) {
            #expect(found.problems.map(\.key) == ["files", "command", "cwd", "network"])
        } catch {
            Issue.record("another error: \(error)")
        }
    }
}

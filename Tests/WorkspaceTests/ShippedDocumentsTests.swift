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

    @Test("the profiles of coding agents are read, and their files are there")
    func profiles() throws {
        let agents = [
            "claude-code", "codex-cli", "mini-swe-agent", "aider", "mistral-vibe", "openhands",
        ]
        for name in agents + ["scripted", "command"] {
            let folder = "coding-agents/\(name)"
            let profile = try CodingAgentProfile(
                parsing: try bytes("\(folder)/profile.yaml"),
                file: "\(name)/profile.yaml"
            )
            #expect(profile.name == name)
            #expect(profile.directory == "/work")
            // Longer than the 30 minutes that the broker lets a call take, during which nothing is heard.
            let idle = try #require(profile.idle)
            #expect(idle > .seconds(45 * 60) && idle < .seconds(12 * 3600))
            for file in profile.files {
                #expect(try !bytes("\(folder)/\(file.text)").isEmpty, "\(file)")
            }
            guard case .packaged(_, let package) = profile.executable else { continue }
            // A package that scripts/agents installs under the profile's name.
            #expect(package == name)
            #expect(try !bytes("\(folder)/requirements.txt").isEmpty)
            #expect(!profile.dialects.isEmpty)
            #expect(!profile.task.isEmpty)
        }
    }
}

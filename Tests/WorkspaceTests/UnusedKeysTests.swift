import Foundation
import Testing

@testable import Workspace

@Suite("Keys of a configuration that the chosen benchmark does not use")
struct UnusedKeysTests {
    private func unused(_ benchmark: String, _ more: String) throws -> [String] {
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../templates/benchmarks/\(benchmark)/benchmark.yaml")
        let manifest = try BenchmarkManifest(
            parsing: Array(Data(contentsOf: file)),
            file: "benchmark.yaml"
        )
        let text = "benchmark: \(benchmark)\n\(more)\n"
        return try ExperimentConfig(parsing: Array(text.utf8), file: "c.yaml")
            .unusedKeys(by: manifest)
    }

    @Test("a key of another benchmark is named, one of this benchmark is not")
    func adapter() throws {
        let keys = "domain: airline\nmode: a-interact\npatience: 3"
        let helpdesk = try unused("helpdesk", keys)
        #expect(helpdesk.map { $0.split(separator: ":")[0] } == ["domain", "mode", "patience"])
        #expect(helpdesk[0].contains("helpdesk knows no such key"))
        let tau = try unused("tau-bench", keys)
        #expect(tau.map { $0.split(separator: ":")[0] } == ["mode", "patience"])
    }

    @Test("a model that nobody serves is named, one that has an upstream is not")
    func models() throws {
        let keys = "agent_model: gpt-5\nreasoning_effort: low\nuser_model: gpt-5"
        let said = try unused("tau-bench", keys)
        #expect(said.count == 3 && said[0].contains("write models.upstreams"), "\(said)")
        let served = """
            \(keys)
            models:
              upstreams: {main: {url: "https://provider.example", dialects: [openai-chat]}}
            """
        #expect(try unused("tau-bench", served).isEmpty)
        #expect(try unused("helpdesk", "").isEmpty)
    }
}

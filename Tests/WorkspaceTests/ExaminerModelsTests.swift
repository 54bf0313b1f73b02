import ModelDialects
import StrictYAML
import Testing
import Workspace

@Suite("Models that an examiner needs")
struct ExaminerModelsTests {
    private func manifest(_ roles: String) throws(WorkspaceError) -> BenchmarkManifest {
        let text = BenchmarkManifestTests.whole + "\nmodels: \(roles)\n"
        return try BenchmarkManifest(parsing: Array(text.utf8), file: "benchmark.yaml")
    }

    private func config(_ more: String) throws(WorkspaceError) -> ExperimentConfig {
        let text = "benchmark: x\n" + more
        return try ExperimentConfig(parsing: Array(text.utf8), file: "experiment_config.yaml")
    }

    @Test("a configuration without one is refused, and every key that is missing is named")
    func missing() throws {
        let manifest = try manifest("[user-simulator, judge]")
        #expect(manifest.models == [.userSimulator, .judge])
        let config = try config("")
        let refusal = #expect(throws: WorkspaceError.self) {
            try manifest.requireModels(of: config, file: "experiment_config.yaml")
        }
        guard case .document(let found)? = refusal else {
            Issue.record("another error: \(String(describing: refusal))")
            return
        }
        #expect(found.map(\.key) == ["models.roles.user-simulator", "models.roles.judge"])
        #expect("\(found)".contains("user_model"))
    }

    @Test("auto-harness's user_model is one")
    func short() throws {
        let config = try config(
            """
            user_model: one/m
            models:
              upstreams: {one: {url: "https://model.example", dialects: [openai-chat]}}

            """
        )
        try manifest("[user-simulator]").requireModels(of: config, file: "experiment_config.yaml")
    }

    @Test(
        "what is no role of an examiner is refused",
        arguments: ["[candidate]", "[coding-agent]", "[user]", "[judge, judge]"]
    )
    func strange(roles: String) {
        #expect(throws: WorkspaceError.self) { try manifest(roles) }
    }
}

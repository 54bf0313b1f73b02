import StrictYAML
import Testing
import Workspace

@Suite("Whom a configuration wants told, and what it keeps")
struct NotifySettingsTests {
    private func read(_ text: String) throws -> ExperimentConfig {
        try ExperimentConfig(
            parsing: Array(("benchmark: helpdesk\n" + text).utf8),
            file: "experiment_config.yaml"
        )
    }

    private func problems(_ text: String) -> [DocumentProblem] {
        do {
            _ = try read(text)
            return []
        } catch WorkspaceError.document(let found) {
            return found
        } catch {
            Issue.record("another error: \(error)")
            return []
        }
    }

    @Test("without the sections nobody is told and everything is kept")
    func absent() throws {
        let config = try read("")
        #expect(config.notify == nil)
        #expect(config.retention == RetentionSettings())
    }

    @Test("a command and an address are told of what is listed")
    func both() throws {
        let notify = try #require(
            try read(
                """
                notify:
                  command: [/usr/local/bin/tell, --loud]
                  webhook: https://hooks.example.org/T0/B0
                  on: [accepted, error]
                  timeout: 5s
                """
            ).notify
        )
        #expect(
            notify.hooks == [
                .command(["/usr/local/bin/tell", "--loud"]),
                .webhook("https://hooks.example.org/T0/B0"),
            ]
        )
        #expect(notify.occasions == [.accepted, .error])
        #expect(notify.timeout == .seconds(5))
    }

    @Test("no digest covers whom is told, nor what is kept")
    func digest() throws {
        let changed = """
            notify: { webhook: "https://hooks.example.org/secret" }
            retention: { transcripts: 3, age: 720h, logs: 1MiB }
            """
        #expect(try read(changed).digest == read("").digest)
        #expect(try read("budget: { hours: 3 }").digest != read("").digest)
        #expect(try !read(changed).agentText().contains("hooks"))
    }

    @Test(
        "what is no hook is refused",
        arguments: [
            "{}", "{ on: [accepted] }", "{ command: [] }", "{ command: [tell] }",
            "{ webhook: \"http://hooks.example.org/\" }", "{ webhook: \"https://\" }",
            "{ webhook: \"http://localhost.example.org/\" }",
            "{ webhook: \"https://user:secret@hooks.example.org/\" }",
            "{ webhook: \"ftp://127.0.0.1/\" }", "{ webhook: \"https://a b/\" }",
            "{ command: [/bin/true], on: [decided] }", "{ command: [/bin/true], timeout: 2m }",
            "{ command: [/bin/true], environment: all }",
        ]
    )
    func refused(_ section: String) {
        #expect(!problems("notify: \(section)").isEmpty, "\(section)")
    }

    @Test("an address of this host needs no encryption")
    func local() throws {
        #expect(try read("notify: { webhook: \"http://127.0.0.1:8080/x\" }").notify != nil)
    }

    @Test(
        "what is to be kept has a range",
        arguments: ["transcripts: -1", "age: 1s", "logs: 1KiB", "ledger: 1"]
    )
    func retention(_ line: String) {
        #expect(!problems("retention: { \(line) }").isEmpty, "\(line)")
    }
}

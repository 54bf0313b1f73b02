import StrictYAML
import Testing
import Workspace

@Suite("Where checkpoints are kept during a night")
struct LedgerSettingsTests {
    private func read(_ publish: String) throws -> ExperimentConfig {
        let text = "benchmark: x\nledger: { publish: { \(publish) } }\n"
        return try ExperimentConfig(parsing: Array(text.utf8), file: "test.yaml")
    }

    private func keys(_ publish: String) -> [String] {
        do throws(WorkspaceError) {
            _ = try ExperimentConfig(
                parsing: Array("benchmark: x\nledger: { publish: { \(publish) } }\n".utf8),
                file: "test.yaml"
            )
            return []
        } catch {
            guard case .document(let problems) = error else { return ["\(error)"] }
            return problems.map(\.key)
        }
    }

    @Test("a file, a ref or a command is a place, with a timeout of 30 seconds and no duty")
    func places() throws {
        let file = try #require(try read("file: /mnt/c").ledger.publish)
        #expect(file.place == .file("/mnt/c"))
        #expect(!file.isRequired && file.timeout == .seconds(30))
        let ref = try #require(try read("ref: night, repository: /srv/git").ledger.publish)
        #expect(ref.place == .ref("night", repository: "/srv/git"))
        let command = try #require(
            try read("command: [/bin/send, night], required: true, timeout: 5s").ledger.publish
        )
        #expect(command.place == .command(["/bin/send", "night"]))
        #expect(command.isRequired && command.timeout == .seconds(5))
    }

    @Test(
        "none, two places and a path that is not absolute are refused with their key",
        arguments: [
            ("required: true", "ledger.publish"),
            ("file: /a, command: [/b]", "ledger.publish"),
            ("ref: night", "ledger.publish.repository"),
            ("file: /a, repository: /b", "ledger.publish.repository"),
            ("file: a", "ledger.publish.file"),
            ("ref: night, repository: b", "ledger.publish.repository"),
            ("command: [send]", "ledger.publish.command"),
            ("command: []", "ledger.publish.command"),
            ("file: /a, timeout: 11m", "ledger.publish.timeout"),
            ("file: /a, shell: true", "ledger.publish.shell"),
        ]
    )
    func refused(publish: String, key: String) {
        #expect(keys(publish) == [key], "\(publish)")
    }

    @Test("a place is part of the digest, and none leaves the digest as it was")
    func digest() throws {
        let plain = try ExperimentConfig(parsing: Array("benchmark: x\n".utf8), file: "test.yaml")
        let empty = try ExperimentConfig(
            parsing: Array("benchmark: x\nledger: {}\n".utf8),
            file: "test.yaml"
        )
        #expect(plain.digest == empty.digest)
        let digests = try ["file: /a", "file: /b", "file: /a, required: true"].map {
            try read($0).digest
        }
        #expect(Set(digests + [plain.digest]).count == 4)
    }
}

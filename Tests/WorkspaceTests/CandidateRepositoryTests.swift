import ExamResults
import Foundation
import Testing
import Workspace

@Suite("The supervisor's repository")
struct CandidateRepositoryTests {
    private let scratch: Scratch
    private let repository: CandidateRepository

    init() throws {
        scratch = try Scratch()
        repository = CandidateRepository(at: "\(scratch.path)/repository")
        try repository.create()
    }

    private func candidate(_ text: String) throws -> CandidateSnapshot {
        try CandidateSnapshot(program: Array(text.utf8))
    }

    @Test("a kept candidate comes back byte for byte and is not accepted")
    func keep() throws {
        let first = try candidate("a = 1\r\nb = 'ü'\n")
        let commit = try repository.keep(first, message: "iteration 1", time: 1_700_000_000_000)
        #expect(try repository.candidate(in: commit) == first)
        #expect(try repository.commit(of: first.digest) == commit)
        #expect(try repository.head() == nil)
        #expect(try repository.history() == [])
    }

    @Test("accepted candidates are a history with the times of the ledger")
    func history() throws {
        let one = try repository.keep(try candidate("a = 1\n"), message: "baseline", time: 1_000)
        try repository.accept(one)
        let two = try repository.keep(try candidate("a = 2\n"), message: "two\n\nmore", time: 9_000)
        try repository.accept(two)
        let history = try repository.history()
        #expect(history.map(\.commit) == [two, one])
        #expect(history.map(\.seconds) == [9, 1])
        #expect(history.map(\.title) == ["two", "baseline"])
    }

    @Test("a candidate of several files is one commit, and comes back with every one of them")
    func severalFiles() throws {
        let files = [
            "agent/agent.py", "agent/prompts/b.md", "agent/prompts/deep/c.md", "agent/a.md",
        ]
        let candidate = try CandidateSnapshot(
            checking: files.map { CandidateFile(path: $0, bytes: Array("\($0)\n".utf8)) }
        )
        let commit = try repository.keep(candidate, message: "several", time: 0)
        #expect(try repository.candidate(in: commit) == candidate)
        #expect(try repository.commit(of: candidate.digest) == commit)
    }

    @Test("C15: git starts nothing of its own, whatever the repository's hooks and settings say")
    func hooks() throws {
        let hook = "#!/bin/sh\ntouch '\(scratch.path)/planted'\n"
        let names = ["reference-transaction", "post-commit", "pre-auto-gc"]
        try FileManager.default.createDirectory(
            atPath: "\(scratch.path)/repository/hooks",
            withIntermediateDirectories: true
        )
        for name in names {
            let path = "repository/hooks/\(name)"
            try scratch.write(hook, to: path)
            try Scratch.run("/usr/bin/chmod", ["+x", "\(scratch.path)/\(path)"])
        }
        let commit = try repository.keep(try candidate("a = 1\n"), message: "one", time: 0)
        #expect(!FileManager.default.fileExists(atPath: "\(scratch.path)/planted"))
        // The instrument works: git itself would have run the hook.
        let reference = ["update-ref", "refs/heads/other", "\(commit)"]
        try Scratch.run(
            "/usr/bin/git",
            reference,
            environment: ["GIT_DIR": "\(scratch.path)/repository", "PATH": "/usr/bin:/bin"]
        )
        #expect(FileManager.default.fileExists(atPath: "\(scratch.path)/planted"))
    }

    @Test("an unknown candidate is none, and a malformed commit is refused")
    func unknown() throws {
        let never = try candidate("never kept\n")
        #expect(try repository.commit(of: never.digest) == nil)
        #expect(throws: WorkspaceError.self) { try CommitName("--output=/etc/passwd") }
        #expect(throws: WorkspaceError.self) { try CommitName("HEAD") }
    }

    @Test("a candidate of full size passes through git's pipes in both directions")
    func fullSize() throws {
        let line = String(repeating: "x", count: 63) + "\n"
        let text = String(repeating: line, count: CandidateSnapshot.defaultSizeLimit / 64)
        let large = try candidate(text)
        let commit = try repository.keep(large, message: "large", time: 0)
        #expect(try repository.candidate(in: commit) == large)
    }

    @Test("C08: a git that is missing is the host's fault, with a remedy")
    func missingGit() throws {
        let broken = CandidateRepository(at: scratch.path) { _ throws(WorkspaceError) in
            GitAnswer(exitCode: 128, output: [], errors: Array("fatal: no\u{1B}[2J space".utf8))
        }
        do {
            try broken.create()
            Issue.record("it was made")
        } catch {
            #expect("\(error)".contains("fatal: no?[2J space"))
        }
    }

    @Test("a repository that is gone is an error with a remedy")
    func gone() throws {
        try FileManager.default.removeItem(atPath: "\(scratch.path)/repository")
        do {
            _ = try repository.head()
            Issue.record("the missing repository was read")
        } catch {
            #expect("\(error)".contains("remedy: "))
        }
    }
}

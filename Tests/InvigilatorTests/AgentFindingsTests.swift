import Invigilator
import LauncherProtocol
import StrictJSON
import Supervisor
import Testing
import Workspace

@Suite("What agent list and agent check say")
struct AgentFindingsTests {
    private func profile() throws -> CodingAgentProfile {
        let text = """
            coding_agent: tool
            version: 3
            title: a tool
            executable: tool
            dialect: openai-chat
            command: ["${executable}"]
            """
        return try CodingAgentProfile(parsing: Array(text.utf8), file: "profile.yaml")
    }

    private let found = AgentsCache.Outcome.found(
        CodingAgentLaunch.Found(executable: "/cache/tool/bin/tool", package: "/cache/tool")
    )

    private func findings(_ exit: SandboxExit, said: String) throws -> AgentFindings {
        var findings = AgentFindings(AgentEntry(try profile(), found))
        findings.add(paths: ["/cache/tool"], missing: [])
        findings.add(
            start: exit,
            said: Array(said.utf8),
            command: ["/cache/tool/bin/tool", "--version"],
            digest: "d",
            level: "full"
        )
        return findings
    }

    private func exited(_ code: Int32) -> SandboxExit {
        var exit = SandboxExit(kind: .exited)
        exit.code = code
        return exit
    }

    @Test("a program that starts is usable, and its version is what it said first")
    func usable() throws {
        let findings = try findings(exited(0), said: "\n tool 1.2\u{1B}[0m\nmore\n")
        #expect(findings.isUsable)
        #expect(findings.json["program_version"] == " tool 1.2?[0m")
        #expect(findings.json["usable"] == true)
        #expect(findings.json["executable"] == "/cache/tool/bin/tool")
        #expect(findings.json["schema"] == "invigilator.agent-check/1")
    }

    @Test("a program that is missing, or was not started, is not usable")
    func missing() throws {
        let outcome = AgentsCache.Outcome.missing(
            program: "/cache/tool/bin/tool",
            reason: "the package is not installed",
            remedy: "run scripts/agents tool"
        )
        let findings = AgentFindings(AgentEntry(try profile(), outcome))
        #expect(!findings.isUsable)
        #expect(findings.text.contains("/cache/tool/bin/tool: the package is not installed"))
        #expect(findings.text.contains("program: run scripts/agents tool"))
        #expect(!AgentFindings(AgentEntry(try profile(), found)).isUsable)
    }

    @Test("a start that failed says how it ended, its last words, and what to do")
    func failed() throws {
        let findings = try findings(exited(127), said: "first\nno such library\n")
        #expect(!findings.isUsable)
        #expect(findings.text.contains("ended as exited, code 127: no such library"))
        #expect(findings.text.contains("run scripts/agents tool"))
        #expect(findings.json["program_version"] == .null)
        var killed = SandboxExit(kind: .violation)
        killed.signal = 31
        let text = try self.findings(killed, said: "").text
        #expect(text.contains("signal 31"))
        #expect(text.contains("policy explain coding-agent"))
    }

    @Test("paths that this host does not have are a gap")
    func paths() throws {
        var findings = AgentFindings(AgentEntry(try profile(), found))
        findings.add(paths: ["/cache/tool", "/opt/data"], missing: ["/opt/data"])
        #expect(findings.text.contains("not on this host: /opt/data"))
        #expect(!findings.isUsable)
    }

    @Test("the list says which programs are installed")
    func list() throws {
        let outcome = AgentsCache.Outcome.missing(program: "/p", reason: "r", remedy: "do that")
        let list = AgentList(entries: [
            AgentEntry(try profile(), found), AgentEntry(try profile(), outcome),
        ])
        let installed = list.json["agents"]?.arrayValue?.map { $0["installed"] }
        #expect(installed == [true, false])
        #expect(list.text.contains("what to do:\n  do that"))
    }
}

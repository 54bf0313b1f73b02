import ExamResults
import Foundation
import HostKernel
import LinuxKernel
import SandboxPolicy
import Testing
import Workspace

@Suite("Copying out a candidate of several files")
struct CandidateSurfaceTests {
    private let scratch: Scratch

    init() throws {
        scratch = try Scratch()
        try scratch.write("run()\n", to: "agent.py")
    }

    private static func surface(_ patterns: String...) -> Surface {
        Surface(
            save: .replace,
            patterns: ([Surface.program] + patterns).compactMap(SurfacePattern.init(checking:))
        )
    }

    private static let prompts = surface("agent/prompts/*.md")

    private func read(
        _ surface: Surface = prompts,
        limit: Int = CandidateSnapshot.defaultSizeLimit
    ) throws -> CandidateSnapshot {
        try CandidateSnapshot(reading: surface, beneath: try scratch.open(), sizeLimit: limit)
    }

    private func refusal(_ surface: Surface = prompts, limit: Int = 1 << 20) -> CandidateRefusal? {
        do {
            _ = try read(surface, limit: limit)
            return nil
        } catch WorkspaceError.candidate(let refusal) {
            return refusal
        } catch {
            Issue.record("another error: \(error)")
            return nil
        }
    }

    private func directory(_ name: String) throws {
        try FileManager.default.createDirectory(
            atPath: "\(scratch.path)/\(name)",
            withIntermediateDirectories: true
        )
    }

    private func prompt(_ name: String, _ text: String = "be kind\n") throws {
        try directory("prompts")
        try scratch.write(text, to: "prompts/\(name)")
    }

    @Test("C09: the files of the surface are copied, and nothing else that was written")
    func copied() throws {
        for name in ["b.md", "a.md", "notes.txt", ".hidden.md", "md"] { try prompt(name) }
        try scratch.write("x = 1\n", to: "helper.py")
        let snapshot = try read()
        #expect(
            snapshot.files.map(\.path) == [
                "agent/agent.py", "agent/prompts/a.md", "agent/prompts/b.md",
            ]
        )
        #expect(try read(.standard).files.map(\.path) == ["agent/agent.py"])
    }

    @Test("a candidate's name is what sha256sum says of what it prints for the files")
    func digest() throws {
        try prompt("a.md")
        try prompt("b.md", "be brief\n")
        try FileManager.default.createSymbolicLink(
            atPath: "\(scratch.path)/agent",
            withDestinationPath: "."
        )
        let script =
            "cd '\(scratch.path)' && sha256sum --zero agent/agent.py agent/prompts/*.md | sha256sum"
        let tool = try Scratch.run("/bin/sh", ["-c", script])
        let snapshot = try read()
        #expect(String(decoding: tool.output, as: UTF8.self).hasPrefix(snapshot.digest.hex))
        try prompt("b.md", "be brief.\n")
        #expect(try read().digest != snapshot.digest)
    }

    @Test("no single file has the name of a candidate of several")
    func noCollision() throws {
        try prompt("a.md")
        let several = try read()
        let list = several.files.map { file in
            let own = SHA256Digest.hex(of: file.bytes)
            return "\(own)  \(file.path)\0"
        }.joined()
        #expect(SHA256Digest.hex(of: Array(list.utf8)) == several.digest.hex)
        #expect(throws: WorkspaceError.candidate(.zeroByte(offset: 80))) {
            try CandidateSnapshot(program: Array(list.utf8))
        }
        // The same bytes under another name are another candidate.
        let one = try CandidateSnapshot(program: several.files[0].bytes)
        let moved = try CandidateSnapshot(
            checking: [CandidateFile(path: "agent/other.py", bytes: several.files[0].bytes)]
        )
        #expect(one.digest != moved.digest)
    }

    @Test("a file that is named must be there, and a pattern may stand for none")
    func missing() throws {
        let named = Self.surface("agent/prompts/system.md")
        #expect(refusal(named) == .of(path: "agent/prompts/system.md", .missing))
        #expect(try read().files.count == 1)
        try prompt("system.md")
        #expect(try read(named).files.count == 2)
    }

    @Test("each file is held to the rules of the one, and the refusal says which it was")
    func rules() throws {
        try prompt("a.md", "")
        #expect(refusal() == .of(path: "agent/prompts/a.md", .empty))
        try scratch.write([0x61, 0xFF], to: "prompts/a.md")
        #expect(refusal() == .of(path: "agent/prompts/a.md", .notUTF8))
        try FileManager.default.removeItem(atPath: "\(scratch.path)/prompts/a.md")
        try scratch.write("secret\n", to: "target")
        try scratch.open().openBeneath("prompts", [.read, .directory])
            .makeLink("a.md", to: "../target")
        #expect(try scratch.read("prompts/a.md") == "secret\n")
        #expect(refusal() == .of(path: "agent/prompts/a.md", .symbolicLink))
        try FileManager.default.removeItem(atPath: "\(scratch.path)/prompts/a.md")
        try FileManager.default.linkItem(
            atPath: "\(scratch.path)/target",
            toPath: "\(scratch.path)/prompts/a.md"
        )
        #expect(refusal() == .of(path: "agent/prompts/a.md", .hardLinked(count: 2)))
        #expect(
            "\(refusal().map(\.description) ?? "")".contains(": agent/prompts/a.md: the file has 2")
        )
    }

    @Test("a directory of the surface that is a link leads nowhere")
    func linkedDirectory() throws {
        try directory("elsewhere")
        try scratch.write("secret\n", to: "elsewhere/a.md")
        try scratch.open().makeLink("prompts", to: "elsewhere")
        #expect(try scratch.read("prompts/a.md") == "secret\n")
        #expect(refusal() == .of(path: "agent/prompts", .notADirectory))
        #expect(
            refusal(Self.surface("agent/prompts/a.md"))
                == .of(path: "agent/prompts/a.md", .symbolicLink)
        )
    }

    @Test(
        "a name that is no plain one is refused, not skipped",
        arguments: ["a b.md", "ä.md", "a\n.md", "a;rm.md", "\u{1B}[2J.md", "-->.md"]
    )
    func names(_ name: String) throws {
        try prompt(name)
        let found = refusal()
        guard case .of(_, .badName) = found else {
            Issue.record("\(String(describing: found))")
            return
        }
        let shown = found?.description ?? ""
        #expect(shown.utf8.allSatisfy { $0 >= 0x20 }, "\(shown)")
    }

    @Test("all files together are held to one limit, and so is their number")
    func limits() throws {
        for number in 0..<63 { try prompt("\(number).md", "12345") }
        #expect(try read().files.count == 64)
        #expect(refusal(limit: 320) == .tooLarge(size: 321, limit: 320))
        try prompt("more.md")
        #expect(refusal() == .tooMany(count: 65, limit: 64))
    }

    @Test("the difference of two candidates is a patch that git applies, whatever came and went")
    func difference() throws {
        for (name, text) in [("a.md", "one\n"), ("b.md", "two\n")] { try prompt(name, text) }
        let old = try read()
        try FileManager.default.removeItem(atPath: "\(scratch.path)/prompts/a.md")
        try prompt("b.md", "two, better\n")
        try prompt("c.md", "three\n")
        let new = try read()
        let work = try Scratch()
        try FileManager.default.createDirectory(
            atPath: "\(work.path)/agent/prompts",
            withIntermediateDirectories: true
        )
        for file in old.files { try work.write(file.bytes, to: file.path) }
        try work.write(new.difference(from: old), to: "patch")
        try Scratch.run("/bin/sh", ["-c", "cd '\(work.path)' && git init -q . && git apply patch"])
        let folder = try work.open().openBeneath("agent", [.read, .directory])
        #expect(try CandidateSnapshot(reading: Self.prompts, beneath: folder) == new)
        #expect(new.difference(from: new).isEmpty)
    }
}

@Suite("Patterns of a surface")
struct SurfacePatternTests {
    @Test(
        "a pattern stays below agent/",
        arguments: [
            "agent.py", "agent/", "agent", "/agent/a", "agent/../x", "agent/./x",
            "agent/.git/config",
            "agent/*/a.md", "agent/a**", "agent/*.md*", "agent/a b", "agent/a\0", "agent/ä",
            "work/a",
            "agent//a", "agent/1/2/3/4/5/6/7/8", "agent/\(String(repeating: "a", count: 300))",
        ]
    )
    func refused(_ text: String) { #expect(SurfacePattern(checking: text) == nil) }

    @Test("a star stands for a name or a part of one, never for a hidden file")
    func matches() throws {
        let pattern = try #require(SurfacePattern(checking: "agent/prompts/a*.md"))
        #expect(pattern.folder == "prompts")
        #expect(["a.md", "ab.md", "a.md.md"].allSatisfy(pattern.matches))
        #expect(
            !["a.m", "b.md", "a.mdx", "a.md/x", ".a.md"].contains(where: { name in
                !name.contains("/") && pattern.matches(name)
            })
        )
        let any = try #require(SurfacePattern(checking: "agent/*"))
        #expect(any.matches("x") && !any.matches(".x"))
        let ends = try #require(SurfacePattern(checking: "agent/ab*ba"))
        #expect(!ends.matches("aba") && ends.matches("abba"))
    }

    @Test("a surface names its files and no other path")
    func names() throws {
        let surface = Surface(
            save: .replace,
            patterns: [Surface.program, "agent/prompts/*.md"].compactMap(
                SurfacePattern.init(checking:)
            )
        )
        #expect(surface.names("agent/agent.py") && surface.names("agent/prompts/x.md"))
        for path in ["agent.py", "agent/x.md", "agent/prompts/deep/x.md", "other/prompts/x.md", ""]
        {
            #expect(!surface.names(path), "\(path)")
        }
    }
}

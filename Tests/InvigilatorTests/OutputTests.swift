import Foundation
import Invigilator
import StrictJSON
import Testing

@Suite struct OutputTests {
    @Test("a file is replaced in one step")
    func replacement() throws {
        let scratch = try Scratch()
        try OutputFile.write(Array("one".utf8), to: scratch.path + "/page")
        try OutputFile.write(Array("two".utf8), to: scratch.path + "/page")
        #expect(try scratch.text(of: "page") == "two")
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path) == ["page"])
    }

    @Test("a symbolic link, a directory and a nameless path are never written over")
    func otherThings() throws {
        let scratch = try Scratch()
        try OutputFile.write(Array("kept".utf8), to: scratch.path + "/target")
        try FileManager.default.createSymbolicLink(
            atPath: scratch.path + "/link",
            withDestinationPath: "target"
        )
        for name in ["link", "", "..", "."] {
            #expect(throws: (any Error).self) {
                try OutputFile.write([1], to: scratch.path + "/" + name)
            }
        }
        #expect(try scratch.text(of: "target") == "kept")
    }

    @Test("an accepted file is read back from our own program's answer, and nothing else is")
    func appliedResult() throws {
        let answer: [String: JSONValue] = [
            "schema": "invigilator.best/2", "digest": "d", "iteration": 3,
            "files": ["agent/agent.py": "pass\n"], "surface": "replace agent/agent.py",
            "known_digests": ["d", "e"],
        ]
        let result = try AppliedResult(JSONValue.object(answer).canonicalBytes)
        #expect(result.files == ["agent/agent.py": Array("pass\n".utf8)])
        #expect(result.known == ["d", "e"])
        #expect(result.message.hasPrefix("agent: take the candidate accepted in iteration 3\n\n"))
        for name in answer.keys {
            var broken = answer
            broken[name] = nil
            #expect(throws: (any Error).self) {
                try AppliedResult(JSONValue.object(broken).canonicalBytes)
            }
        }
    }
}

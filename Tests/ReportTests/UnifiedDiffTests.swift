import Report
import TestSupport
import Testing
import Workspace

@Suite("Unified difference")
struct UnifiedDiffTests {
    @Test("equal texts have no difference", arguments: ["", "a", "a\n", "a\nb\n"])
    func equal(_ text: String) {
        let diff = UnifiedDiff(from: text, to: text)
        #expect(diff.hunks.isEmpty && diff.text(oldName: "a", newName: "b").isEmpty)
    }

    @Test("a change is shown with three lines around it, in the form that patch reads")
    func form() {
        let old = (1...12).map { "line \($0)\n" }.joined()
        let new = old.replacing("line 6\n", with: "line six\nand more\n")
        #expect(
            UnifiedDiff(from: old, to: new).text(oldName: "a/agent.py", newName: "b/agent.py")
                == """
                --- a/agent.py
                +++ b/agent.py
                @@ -3,7 +3,8 @@
                 line 3
                 line 4
                 line 5
                -line 6
                +line six
                +and more
                 line 7
                 line 8
                 line 9

                """
        )
    }

    @Test("changes far apart stand in hunks of their own, near ones share one")
    func hunks() {
        let old = (1...40).map { "\($0)\n" }.joined()
        let far = old.replacing("\n10\n", with: "\nx\n").replacing("\n30\n", with: "\ny\n")
        #expect(
            UnifiedDiff(from: old, to: far).hunks.map(\.heading) == [
                "@@ -7,7 +7,7 @@", "@@ -27,7 +27,7 @@",
            ]
        )
        let near = old.replacing("\n10\n", with: "\nx\n").replacing("\n16\n", with: "\ny\n")
        #expect(UnifiedDiff(from: old, to: near).hunks.map(\.heading) == ["@@ -7,13 +7,13 @@"])
    }

    @Test("a missing line feed at the end is said, on either side")
    func lineFeeds() {
        let diff = UnifiedDiff(from: "a\nb", to: "a\nb\n").text(oldName: "o", newName: "n")
        #expect(
            diff == "--- o\n+++ n\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n"
        )
    }

    @Test("an empty side is numbered 0")
    func empty() {
        #expect(UnifiedDiff(from: "", to: "a\n").hunks.map(\.heading) == ["@@ -0,0 +1 @@"])
        #expect(UnifiedDiff(from: "a\nb\n", to: "").hunks.map(\.heading) == ["@@ -1,2 +0,0 @@"])
    }

    @Test("lines are compared byte by byte: no Unicode equivalence, no carriage returns lost")
    func bytes() {
        #expect(UnifiedDiff(from: "\u{E9}\n", to: "e\u{301}\n").addedCount == 1)
        #expect(UnifiedDiff(from: "a\r\nb\r\n", to: "a\nb\r\n").removedCount == 1)
    }

    @Test("what the difference says, applied to the old text, gives the new text")
    func applies() throws {
        var generator = SeededGenerator(seed: 4)
        for _ in 0..<600 {
            let old = Self.text(using: &generator)
            let new = Self.changed(old, using: &generator)
            let context = Int.random(in: 0...4, using: &generator)
            let diff = UnifiedDiff(from: old, to: new, context: context)
            #expect(
                try Self.apply(diff, to: old) == new,
                "\(old.debugDescription) to \(new.debugDescription)"
            )
        }
    }

    @Test("a single changed line costs one removal and one addition, wherever it is")
    func shortest() {
        for place in 0..<30 {
            var lines = (0..<30).map { "\($0 % 4)\n" }
            let old = lines.joined()
            lines[place] = "new\n"
            let diff = UnifiedDiff(from: old, to: lines.joined())
            #expect(diff.addedCount == 1 && diff.removedCount == 1)
        }
    }

    @Test("texts with nothing in common are replaced as a whole, in bounded time")
    func hostile() throws {
        let old = (0..<20_000).map { "a\($0)\n" }.joined()
        let new = (0..<20_000).map { "b\($0)\n" }.joined()
        let diff = UnifiedDiff(from: old, to: new)
        #expect(diff.addedCount == 20_000 && diff.removedCount == 20_000)
        #expect(try Self.apply(diff, to: old) == new)
    }

    private static func text(using generator: inout SeededGenerator) -> String {
        let count = Int.random(in: 0...20, using: &generator)
        let lines = (0..<count).map { _ in
            ["a\n", "b\n", "c\n", "\n", "d\r\n"].randomElement(using: &generator) ?? ""
        }
        return lines.joined() + (Bool.random(using: &generator) ? "" : "end")
    }

    private static func changed(_ text: String, using generator: inout SeededGenerator) -> String {
        var lines = lines(of: text)
        for _ in 0..<Int.random(in: 0...5, using: &generator) {
            let place = Int.random(in: 0...lines.count, using: &generator)
            if Bool.random(using: &generator) || place == lines.count {
                if lines.last?.utf8.last == 10 || lines.isEmpty { lines.insert("new\n", at: place) }
            } else {
                lines.remove(at: place)
            }
        }
        return lines.joined()
    }

    private static func lines(of text: String) -> [String] {
        var lines: [String] = []
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            bytes.append(byte)
            if byte == 10 {
                lines.append(String(decoding: bytes, as: UTF8.self))
                bytes = []
            }
        }
        return bytes.isEmpty ? lines : lines + [String(decoding: bytes, as: UTF8.self)]
    }

    /// Does what `patch` does, and insists on what the headings and kept lines say.
    private static func apply(_ diff: UnifiedDiff, to old: String) throws -> String {
        let lines = lines(of: old)
        var result: [String] = []
        var taken = 0
        for hunk in diff.hunks {
            let start = hunk.oldCount == 0 ? hunk.oldStart : hunk.oldStart - 1
            result += lines[taken..<start]
            taken = start
            #expect(result.count == (hunk.newCount == 0 ? hunk.newStart : hunk.newStart - 1))
            for line in hunk.lines {
                let text = line.text + (line.isEnded ? "\n" : "")
                if line.change != .added {
                    try #require(Array(lines[taken].utf8) == Array(text.utf8))
                    taken += 1
                }
                if line.change != .removed { result.append(text) }
            }
        }
        return (result + lines[taken...]).joined()
    }
}

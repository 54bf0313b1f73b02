import Foundation
import Testing

extension EndToEnd {
    /// The report where people look at it: in a browser, with a coding agent that writes for it.
    @Suite struct Browser {
        // Each would change the page's title if it ran. No "--", which would end an HTML comment.
        private static let scripts = [
            "<script>document.title='owned'</script>",
            "<img src=x onerror=\"document.title='owned'\">",
            "</td></table><svg onload=\"document.title='owned'\">",
            "</style><script>document.title='owned'</script>",
        ].joined(separator: " ")

        // The page as the browser has it once it is loaded.
        private static func loaded(_ page: String, _ scratch: Scratch) throws -> String {
            let ended = try Program(
                "/usr/bin/chromium",
                [
                    // Root has no namespace sandbox of Chromium's; the page is ours and local.
                    "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                    "--user-data-dir=\(scratch.path)/browser", "--virtual-time-budget=3000",
                    "--dump-dom", "file://\(page)",
                ],
                temporary: "\(scratch.path)/tmp"
            ).waitForEnd()
            try #require(ended.code == 0, "\(ended)")
            return ended.output
        }

        private static func title(_ document: String) -> Substring? {
            guard let start = document.range(of: "<title>"),
                let end = document.range(of: "</title>")
            else { return nil }
            return document[start.upperBound..<end.lowerBound]
        }

        // What an agent writes shows as text, in the hypothesis and in the difference of its file.
        @Test("a browser shows what an agent wrote and runs none of it")
        func hostileText() throws {
            let night = try Night()
            let script = Self.scripts
            try night.prepare(
                Configuration(
                    agent: """
                        text = \"\"\"\(script)\"\"\"
                        write(knowing("add", "subtract", note="# " + text + "\\n"))
                        judged(hypothesis=text)
                        """
                )
            )
            try night.done(["run", night.directory])
            let page = "\(night.directory)/report.html"
            try night.done(["report", night.directory, "-o", page])
            let source = try String(contentsOfFile: page, encoding: .utf8)
            let document = try Self.loaded(page, night.scratch)
            let title = try #require(Self.title(document))
            #expect(title.hasPrefix("Invigilator report: "), "\(title)")
            let shown = "&lt;script&gt;document.title='owned'&lt;/script&gt;"
            #expect(document.components(separatedBy: shown).count > 2, "hypothesis and difference")
            let elements = ["<script", "<img", "<iframe", "<svg onload"].filter(document.contains)
            #expect(elements.isEmpty)
            #expect(document.contains("<svg"), "the plot is drawn")

            // The instrument works: unescaped, each of them runs; and the page's policy alone stops it.
            let open = "\(night.scratch.path)/open.html"
            try "<html><head><title>none</title></head><body>\(script)</body></html>"
                .write(toFile: open)
            #expect(try Self.title(Self.loaded(open, night.scratch)) == "owned")
            let unescaped = source.replacingOccurrences(of: "<main>", with: "<main>\(script)")
            try #require(unescaped != source)
            try unescaped.write(toFile: open)
            #expect(try Self.title(Self.loaded(open, night.scratch)) == title)
        }
    }
}

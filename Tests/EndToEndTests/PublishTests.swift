import Foundation
import Ledger
import StrictJSON
import Testing

extension EndToEnd {
    /// Checkpoints that are kept elsewhere while a night goes on.
    @Suite struct Publishing {
        private static let agent = """
            write(knowing("add", "subtract", note="# %d\\n" % time.time_ns()))
            judged()
            write(knowing("add", "subtract", "multiply", note="# %d\\n" % time.time_ns()))
            judged()
            """

        private let night: Night
        private var kept: String { "\(night.scratch.path)/elsewhere/night.checkpoint" }

        init() throws {
            night = try Night()
            _ = try night.scratch.directory("elsewhere")
        }

        private func set(up publish: String, agent: String = Self.agent) throws {
            try night.set(
                up: Configuration(agent: agent, more: "ledger: { publish: { \(publish) } }")
            )
        }

        private func size(of note: String) throws -> Int {
            let lines = try String(contentsOfFile: note, encoding: .utf8).split(separator: "\n")
            return try #require(Int(lines[1]))
        }

        private func tool(_ program: String, _ words: [String]) throws -> Ended {
            try Program(program, words, temporary: "\(night.scratch.path)/tmp").waitForEnd()
        }

        @Test("a record put back to before the final tier was opened does not open it again")
        func final() throws {
            let more =
                "ledger: { publish: { file: \"\(kept)\", required: true } }\ngate: { final: 0.5 }"
            try night.set(up: Configuration(agent: Self.agent, more: more))
            try night.done(["prepare", night.directory])
            try night.done(["run", night.directory])
            let place = try night.folder()
            let copy = "\(night.scratch.path)/before"
            try #require(try tool("/bin/cp", ["-a", place, copy]).code == 0)
            try night.done(["final", night.directory])
            #expect(try size(of: kept) == night.rows().count)
            let note = try String(contentsOfFile: kept, encoding: .utf8)

            func putBack() throws {
                try FileManager.default.removeItem(atPath: place)
                try #require(try tool("/bin/cp", ["-a", copy, place]).code == 0)
            }
            try putBack()
            let rows = try night.rows().count
            let again = try night.run(["final", night.directory])
            #expect(again.code == 4 && again.notes.contains("rolled back"), "\(again)")
            #expect(try night.rows().count == rows)
            // The control: where nothing of it is kept elsewhere, it is opened a second time.
            try putBack()
            try FileManager.default.removeItem(atPath: kept)
            #expect(try night.run(["final", night.directory]).code == 0)
            #expect(try String(contentsOfFile: kept, encoding: .utf8) != note)
        }

        @Test("a file has the last row; a record that goes back, or on otherwise, is refused")
        func file() throws {
            let before = try Leftovers()
            try set(up: "file: \"\(kept)\", required: true")
            try night.done(["prepare", night.directory])
            #expect(try size(of: kept) == night.rows().count)
            let copy = "\(night.scratch.path)/copy"
            let place = try night.folder()
            try #require(try tool("/bin/cp", ["-a", place, copy]).code == 0)

            let ended = try night.done(["run", night.directory])
            let rows = try night.rows()
            #expect(try size(of: kept) == rows.count)
            let releases = rows.filter { $0.kind == .release }
            for row in releases.prefix(1) {
                let told = "a checkpoint of \(row.sequence) rows is kept elsewhere"
                #expect(ended.notes.contains(told), "\(ended)")
            }
            #expect(try night.bodies(.unpublished).isEmpty)
            try night.done(["verify", night.directory, "--checkpoint", kept])
            let note = try String(contentsOfFile: kept, encoding: .utf8)

            // Put back: shorter than what is kept.
            try FileManager.default.removeItem(atPath: place)
            try #require(try tool("/bin/cp", ["-a", copy, place]).code == 0)
            let back = try night.run(["run", night.directory])
            #expect(back.code == 4 && back.notes.contains("rolled back"), "\(back)")
            // Gone on otherwise: longer, and of other rows.
            try FileManager.default.moveItem(atPath: kept, toPath: "\(kept).old")
            for _ in 0..<2 { try night.done(["run", night.directory]) }
            #expect(try night.rows().count > rows.count)
            try FileManager.default.removeItem(atPath: kept)
            try FileManager.default.moveItem(atPath: "\(kept).old", toPath: kept)
            let count = try night.rows().count
            let forked = try night.run(["run", night.directory])
            #expect(forked.code == 4 && forked.notes.contains("forked"), "\(forked)")
            #expect(try night.rows().count == count, "nothing happened before it was compared")
            let verified = try night.run(["verify", night.directory, "--checkpoint", kept])
            #expect(verified.code == 4, "\(verified)")
            #expect(verified.output.contains("DAMAGED checkpoint"), "\(verified)")
            #expect(try String(contentsOfFile: kept, encoding: .utf8) == note)
            try before.expectNone(night)
        }

        @Test("a place out of reach is told and recorded, and ends the run where it is required")
        func unreachable() throws {
            try set(up: "file: \"\(night.scratch.path)/nowhere/night.checkpoint\"")
            try night.done(["prepare", night.directory])
            let ended = try night.done(["run", night.directory])
            #expect(ended.notes.contains("no checkpoint is kept elsewhere: "), "\(ended)")
            let rows = try night.bodies(.unpublished)
            #expect(rows.count >= 3, "after prepare, at the beginning, at each release: \(rows)")
            #expect(rows.allSatisfy { $0["place"] == "file" && $0["reason"]?.stringValue != "" })
            try night.expectSettled()

            let strict = try Night(in: night.scratch, name: "strict", state: night.state)
            let place = try night.scratch.directory("going")
            try strict.set(
                up: Configuration(
                    agent: Self.agent,
                    more: "ledger: { publish: { file: \"\(place)/c\", required: true } }"
                )
            )
            try strict.done(["prepare", strict.directory])
            try FileManager.default.removeItem(atPath: place)
            let count = try strict.bodies(.examStarted).count
            let refused = try strict.run(["run", strict.directory])
            #expect(refused.code == 3, "\(refused)")
            #expect(refused.notes.contains("keep a checkpoint elsewhere"), "\(refused)")
            #expect(try strict.bodies(.examStarted).count == count, "no exam was run")
        }

        @Test("a command gets each checkpoint as the directory's owner, with a clean environment")
        func command() throws {
            let place = "\(night.scratch.path)/elsewhere"
            let script = "\(place)/take"
            try """
            #!/bin/sh
            { id -u; env | cut -d= -f1 | sort | tr '\\n' ' '; echo; ls /proc/self/fd | tr '\\n' ' '; } \
            >'\(place)/told'
            cat >'\(place)/note'
            """.write(toFile: script)
            try #require(try tool("/bin/chmod", ["755", script]).code == 0)
            try set(up: "command: [\"\(script)\"], required: true")
            let owned = ["-R", "65534:65534", place, night.directory]
            try #require(try tool("/bin/chown", owned).code == 0)
            try night.done(["prepare", night.directory])
            try night.done(["run", night.directory])
            let told = try String(contentsOfFile: "\(place)/told", encoding: .utf8)
                .split(separator: "\n").map(String.init)
            #expect(told.first == "65534")
            #expect(told.count == 3)
            #expect(told.dropFirst().first == "LC_ALL PATH PWD ", "PWD is the shell's own: \(told)")
            #expect(told.last == "0 1 2 3 ", "3 is the listing's own: \(told)")
            #expect(try size(of: "\(place)/note") == night.rows().count)
            try night.done(["verify", night.directory, "--checkpoint", "\(place)/note"])
        }

        @Test("a command that hangs is killed with its children, and the night goes on")
        func hanging() throws {
            let before = try Leftovers()
            let script = "\(night.scratch.path)/elsewhere/hang"
            try "#!/bin/sh\nsleep 1000 &\nsleep 1000\n".write(toFile: script)
            try #require(try tool("/bin/chmod", ["755", script]).code == 0)
            try set(up: "command: [\"\(script)\"], timeout: 1s")
            try night.done(["prepare", night.directory])
            let ended = try night.done(["run", night.directory])
            #expect(try night.bodies(.decision).count == 2)
            #expect(ended.notes.contains("hand a checkpoint over"), "\(ended)")
            #expect(try night.bodies(.unpublished).count >= 2)
            try night.expectSettled()
            try before.expectNone(night)
        }

        @Test("a ref has a commit for each, made as the repository's owner")
        func ref() throws {
            let repository = try night.scratch.directory("elsewhere/git")
            try #require(try tool("/bin/chown", ["65534:65534", repository]).code == 0)
            let rights = ["--reuid", "65534", "--regid", "65534", "--clear-groups", "--"]
            func git(_ words: [String]) throws -> Ended {
                try tool("/usr/bin/setpriv", rights + ["/usr/bin/git", "-C", repository] + words)
            }
            try #require(try git(["init", "--quiet"]).code == 0)
            try set(up: "ref: night, repository: \"\(repository)\", required: true")
            try night.done(["prepare", night.directory])
            try night.done(["run", night.directory])
            let log = try git(["log", "--format=%an", "night"])
            #expect(log.output.split(separator: "\n").count >= 3, "\(log)")
            let shown = try git(["show", "night:checkpoint"])
            let lines = shown.output.split(separator: "\n")
            #expect(try lines.count > 1 && Int(lines[1]) == night.rows().count, "\(shown)")
        }
    }
}

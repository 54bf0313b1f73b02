import Foundation
import Ledger
import LinuxKernel
import StrictJSON
import Testing

extension EndToEnd {
    /// No marker of a sealed task is anywhere but in its own rollout.
    @Suite struct Leaks {
        /// A task of the small benchmark as its file has it.
        private struct Planted {
            let id: String
            let marker: String
        }

        // The tasks of one split, from the vault.
        private static func planted(_ night: Night, _ split: String) throws -> [Planted] {
            let path = "\(night.seenState)/vault/\(try night.id())/\(split)/tasks.json"
            let bytes = try Array(Data(contentsOf: URL(fileURLWithPath: path)))
            let file = try JSONValue(parsing: bytes, limits: .document)
            return try #require(file["tasks"]?.arrayValue).map { task in
                Planted(
                    id: try #require(task["id"]?.stringValue),
                    marker: try #require(task["marker"]?.stringValue)
                )
            }
        }

        // Answers every question, and spoils its answer when it sees another task's marker, or when
        // it does not find the two that it planted itself.
        private static let searcher = """
            text = knowing("add", "subtract", "multiply")
            search = open("/work/PROGRAM.md").read().split("# --- search\\n")[1]
            text = text.replace("class HarnessAgent:", search + "\\n\\nclass HarnessAgent:")
            text = text.replace(
                "return AssistantMessage(self.answer(verb, int(left), int(right))), state",
                "said = self.answer(verb, int(left), int(right))\\n"
                "        own = message.content.split('[')[1].rstrip(']')\\n"
                "        with open('/tmp/planted', 'w') as file: file.write('x' * 99 + own)\\n"
                "        found = markers(['/'])\\n"
                "        if found != {own}: said = 'found %s of %s' % (sorted(found), own)\\n"
                "        return AssistantMessage(said), state",
            )
            """

        @Test("a candidate in a sealed exam finds its own task's marker and no other")
        func candidate() throws {
            let night = try Night()
            // Without the bait, which is meant to be found and looks like markers.
            try night.prepare(
                Configuration(
                    agent: Self.search + Self.searcher + "\nwrite(text)\njudged()\n",
                    more: "tripwires: { honeytokens: false }\n"
                )
            )
            try night.done(["run", night.directory])
            let decision = try #require(try night.bodies(.decision).first)
            let recheck = try night.bodies(.examEnded)
                .filter { $0["purpose"]?.stringValue == "recheck" }
            #expect(decision["sealed_mean"]?.numberValue == 1, "\(decision) \(recheck)")
            try night.expectSettled()
        }

        @Test("a candidate's search finds what lies in the tree of its sandbox")
        func control() throws {
            // The instrument itself: a marker in the candidate's own text is found, and costs all.
            let night = try Night()
            let lines = "\nwrite(text + \"# mark-\" + \"aaaaaaaaaaaaaa\\n\")\njudged()\n"
            try night.prepare(Configuration(agent: Self.search + Self.searcher + lines))
            try night.done(["run", night.directory])
            let decision = try #require(try night.bodies(.decision).first)
            #expect(decision["sealed_mean"]?.numberValue == 0, "\(decision)")
        }

        // Looks through everything that it can read, and ticks meanwhile.
        private static let watcher = """
            ticks = []
            running = True


            def tick():
                while running:
                    ticks.append(time.time())
                    time.sleep(0.002)


            seen = {}


            def look(when):
                seen[when] = sorted(markers(["/"]))


            def watch():
                while running:
                    seen["during"] = sorted(set(seen.get("during", ())) | markers(QUICK))


            threads = [threading.Thread(target=tick), threading.Thread(target=watch)]
            for thread in threads:
                thread.start()
            look("before")
            for number, verbs in enumerate((["add", "subtract"], ["add", "subtract", "multiply"])):
                write(knowing(*verbs))
                judged("number %d" % number)
                look("after %d" % number)
            running = False
            for thread in threads:
                thread.join()
            gaps = [
                [int(a * 1000), int(b * 1000)] for a, b in zip(ticks, ticks[1:]) if b - a > 0.02
            ]
            say("seen", seen=seen, processes=[p for p in os.listdir("/proc") if p.isdigit()])
            say("gaps", gaps=gaps, first=int(ticks[0] * 1000), count=len(ticks))
            """

        @Test(
            "A05, A06: the coding agent finds no sealed marker before, during and after a sealed exam"
        )
        func codingAgent() throws {
            let night = try Night()
            try night.prepare(Configuration(agent: Self.search + Self.watcher))
            try night.done(["run", night.directory])
            #expect(
                try night.bodies(.decision).map { $0["verdict"]?.stringValue }
                    == ["accepted", "accepted"]
            )
            let sealed = Set(try Self.planted(night, "test").map(\.marker))
            let train = Set(try Self.planted(night, "train").map(\.marker))
            let line = try #require(try night.agentLog("seen").first)
            let seen = try #require(line["seen"]?.objectValue)
            #expect(seen.keys.sorted() == ["after 0", "after 1", "before", "during"])
            for (when, value) in seen {
                let found = Set((value.arrayValue ?? []).compactMap(\.stringValue))
                #expect(found.isDisjoint(with: sealed), "\(when): \(found.intersection(sealed))")
                // The instrument works: train traces are there to be read.
                #expect(found.isSuperset(of: train), "\(when): \(found.count)")
            }
            let processes = line["processes"]?.arrayValue?.count ?? 0
            #expect(processes <= 3, "its own processes only: \(line)")
            try expectFrozen(night)
            try night.expectSettled()
        }

        // No tick of the agent falls into a sealed exam.
        private func expectFrozen(_ night: Night) throws {
            let line = try #require(try night.agentLog("gaps").first)
            let gaps = (line["gaps"]?.arrayValue ?? []).compactMap { gap -> ClosedRange<Int64>? in
                guard let start = gap.arrayValue?.first?.integerValue,
                    let end = gap.arrayValue?.last?.integerValue
                else { return nil }
                return start...end
            }
            let first = try #require(line["first"]?.integerValue)
            let exams = try night.rows().filter {
                $0.kind == .examEnded && $0.body["purpose"]?.stringValue == "sealed"
            }
            #expect(exams.count == 2)
            for exam in exams {
                let length = try #require(exam.body["duration_ms"]?.integerValue)
                let start = exam.time - length + 2
                #expect(first < start, "the agent ticked before the exam")
                #expect(
                    gaps.contains { $0.contains(start) && $0.contains(exam.time - 2) },
                    "\(start)...\(exam.time): \(gaps)"
                )
            }
        }

        @Test("A06: what outlives a run holds no marker, id or answer of a sealed task")
        func remains() throws {
            let night = try Night()
            try night.prepare(
                Configuration(
                    agent: """
                        ask("train")
                        write(knowing("add", "subtract", "multiply"))
                        judged()
                        """
                )
            )
            try night.done(["run", night.directory])
            try night.done(["report", night.directory, "-o", "\(night.directory)/report.html"])
            let sealed = try Self.planted(night, "test")
            let train = try Self.planted(night, "train")
            try moveVaultAway(night)
            let found = try search(night, [night.seenState, night.directory])
            for task in train { #expect(found.contains(task.marker), "the search works") }
            for task in sealed {
                #expect(!found.contains(task.marker), "\(task.id): \(task.marker)")
                #expect(!found.contains(task.id), "\(task.id)")
            }
        }

        private func moveVaultAway(_ night: Night) throws {
            try FileManager.default.removeItem(atPath: "\(night.seenState)/vault")
        }

        // Everything in these directories, git's objects unpacked, as one text.
        private func search(_ night: Night, _ places: [String]) throws -> String {
            let temporary = "\(night.scratch.path)/tmp"
            let files = try Program(
                "/usr/bin/grep",
                ["-rahoE", "mark-[a-z]{14}|sum-[0-9]{2}"] + places,
                temporary: temporary
            ).waitForEnd()
            let objects = try Program(
                "/usr/bin/git",
                [
                    "-c", "safe.directory=*", "--git-dir", "\(night.folder())/repository",
                    "cat-file", "--batch-all-objects", "--batch",
                ],
                temporary: temporary
            ).waitForEnd()
            #expect(objects.output.contains("class HarnessAgent"))
            return files.output + objects.output
        }

        // Every marker in files and process entries below these places. Programs of the host are
        // older than the experiment and are shown read-only: of them only what is new is read.
        private static let search = """
            # --- search
            import re as _re, os as _os


            def readable(path, newest):
                try:
                    status = _os.stat(path, follow_symlinks=False)
                    if status.st_mode & 0o170000 != 0o100000:
                        return b""
                    if path.startswith("/usr/") and status.st_ctime < newest:
                        return b""
                    handle = _os.open(path, _os.O_RDONLY | _os.O_NONBLOCK | _os.O_NOFOLLOW)
                    try:
                        return _os.read(handle, 1 << 24)
                    finally:
                        _os.close(handle)
                except OSError:
                    return b""


            def markers(places):
                try:
                    newest = _os.stat("/work/PROGRAM.md").st_ctime - 60
                except OSError:
                    newest = 0
                found = set()
                for place in places:
                    for folder, folders, names in _os.walk(place):
                        for name in names:
                            data = readable(folder + "/" + name, newest)
                            found.update(_re.findall(rb"mark-[a-z]{14}", data))
                        found.update(
                            _re.findall(rb"mark-[a-z]{14}", " ".join(folders + names).encode())
                        )
                found.update(_re.findall(rb"mark-[a-z]{14}", repr(_os.environ).encode()))
                return {marker.decode() for marker in found}


            QUICK = ["/work", "/tmp", "/home", "/proc", "/dev", "/var"]
            # --- search

            """
    }
}

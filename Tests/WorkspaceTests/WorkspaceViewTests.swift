import HostKernel
import ExamResults
import LinuxKernel
import StrictJSON
import Testing
import Workspace

@Suite("The rendered workspace")
struct WorkspaceViewTests {
    private func content() throws -> WorkspaceContent {
        let one = try TaskID("t-1")
        let two = try TaskID("t-2")
        return WorkspaceContent(
            suite: .init(tasks: [two, one], threshold: 0.8, lastResults: [one: .one]),
            rows: [
                .init(
                    iteration: 0,
                    exactScore: try Score(replayingMean: 0.5, count: 2),
                    releasedScore: .half,
                    commit: nil,
                    suite: (0, 0),
                    times: (1_000, 1_000)
                ),
                .init(
                    iteration: 1,
                    exactScore: try Score(replayingMean: 2.0 / 3.0, count: 3),
                    releasedScore: try Proportion(0.65),
                    commit: "0123456789abcdef0123456789abcdef01234567",
                    suite: (1, 1),
                    times: (1_700_000_000_000, 1_700_000_002_000)
                ),
                .init(
                    iteration: 2,
                    exactScore: try Score(replayingMean: 1, count: 3),
                    releasedScore: .one,
                    commit: "fedcba9876543210fedcba9876543210fedcba98",
                    suite: (2, 2),
                    times: (1_700_000_100_000, nil)
                ),
            ],
            train: .init(time: 86_399_999, results: [one: .one, two: nil]),
            learnings: [.init(iteration: 1, note: LearningNote(text: "ask for the order first"))]
        )
    }

    private func file(_ name: String, for audience: WorkspaceView.Audience) throws -> String {
        let files = try WorkspaceView(of: try content(), for: audience).files()
        let file = try #require(files.first { $0.path.text == name })
        return String(decoding: file.bytes, as: UTF8.self)
    }

    @Test("the operator's table holds exact scores in auto-harness's format")
    func operatorTable() throws {
        #expect(
            try file("results.tsv", for: .operator) == """
                iteration\tval_score\tcommit\tevals_passed\tevals_total\ttimestamp
                0\t0.5000\t-\t0\t0\t1970-01-01T00:00:01+00:00
                1\t0.6667\t0123456\t1\t1\t2023-11-14T22:13:20+00:00
                2\t1.0000\tfedcba9\t2\t2\t2023-11-14T22:15:00+00:00

                """
        )
    }

    @Test("the agent's table holds released scores at their release, and nothing unreleased")
    func agentTable() throws {
        #expect(
            try file("results.tsv", for: .agent) == """
                iteration\tval_score\tcommit\tevals_passed\tevals_total\ttimestamp
                0\t0.5000\t-\t0\t0\t1970-01-01T00:00:01+00:00
                1\t0.6500\t0123456\t1\t1\t2023-11-14T22:13:22+00:00

                """
        )
    }

    @Test("suite.json and train_results.json have auto-harness's members")
    func jsonFiles() throws {
        let suite = try JSONValue(
            parsing: Array(try file("suite.json", for: .agent).utf8),
            limits: .document
        )
        #expect(
            suite == ["tasks": ["t-1", "t-2"], "threshold": 0.8, "last_results": ["t-1": 1]]
        )
        let train = try JSONValue(
            parsing: Array(try file("train_results.json", for: .agent).utf8),
            limits: .document
        )
        #expect(
            train == [
                "split": "train", "timestamp": "1970-01-01T23:59:59+00:00",
                "results": ["t-1": 1, "t-2": nil],
            ]
        )
    }

    @Test("notes are appended in order")
    func learnings() throws {
        #expect(
            try file("learnings.md", for: .agent)
                == "# Learnings\n\n## Iteration 1\n\n> ask for the order first\n"
        )
    }

    @Test("the parts of a typed note have headings, in their order, before its free text")
    func typedLearnings() throws {
        let note = LearningNote(
            text: "more",
            parts: [.needs: "a price list", .tried: "ask first", .happened: "worse\nfor all"]
        )
        let content = WorkspaceContent(
            suite: .init(tasks: [], threshold: 0.8, lastResults: [:]),
            rows: [],
            train: nil,
            learnings: [.init(iteration: 3, note: note)]
        )
        let files = try WorkspaceView(of: content, for: .agent).files()
        let bytes = try #require(files.first { $0.path.text == "learnings.md" }?.bytes)
        #expect(
            String(decoding: bytes, as: UTF8.self) == """
                # Learnings

                ## Iteration 3

                Tried:

                > ask first

                Happened:

                > worse
                > for all

                Needs from a person:

                > a price list

                > more

                """
        )
    }

    @Test("no line of a note can pass for a heading or a rule of the file")
    func quotedLearnings() throws {
        let note = "# Learnings\n## Iteration 9\r\n\naccepted\n---\u{2028}# more\u{85}===\n"
        let content = WorkspaceContent(
            suite: .init(tasks: [], threshold: 0.8, lastResults: [:]),
            rows: [],
            train: nil,
            learnings: [
                .init(iteration: 1, note: LearningNote(text: note)),
                .init(iteration: 2, note: LearningNote(text: nil, parts: [.tried: note])),
            ]
        )
        let files = try WorkspaceView(of: content, for: .agent).files()
        let bytes = try #require(files.first { $0.path.text == "learnings.md" }?.bytes)
        let lines = String(decoding: bytes, as: UTF8.self).unicodeScalars
            .split { $0.properties.isWhitespace && $0 != " " && $0 != "\t" }
            .map { String($0) }
        #expect(
            lines.filter { !$0.hasPrefix(">") }
                == ["# Learnings", "## Iteration 1", "## Iteration 2", "Tried:"]
        )
        #expect(lines.contains("> # Learnings") && lines.contains("> ---"))
    }

    @Test("traces are numbered, and a new set replaces the old one on disk")
    func traces() throws {
        let scratch = try Scratch()
        var sink = DirectorySink(adopting: try scratch.open())
        let old = TraceRecord(task: try TaskID("old"), messages: [], reward: nil, detail: nil)
        try WorkspaceView.render([old], as: .latest, into: &sink)
        let new = TraceRecord(
            task: try TaskID("new"),
            messages: [
                ["role": "user", "content": "hi"], ["role": "assistant", "content": "yes"],
            ],
            reward: try Reward(0.4),
            detail: ["why": "fee"]
        )
        try WorkspaceView.render([new], as: .latest, into: &sink)
        try WorkspaceView(of: try content(), for: .agent).render(into: &sink)
        let latest = try scratch.open().openBeneath("traces/latest", [.read, .directory])
        #expect(try latest.entries() == ["new"])
        let trace = try JSONValue(
            parsing: Array(try scratch.read("traces/latest/new/trace.json").utf8),
            limits: .document
        )
        #expect(trace.arrayValue?.compactMap { $0["index"]?.intValue } == [0, 1])
        let result = try JSONValue(
            parsing: Array(try scratch.read("traces/latest/new/result.json").utf8),
            limits: .document
        )
        #expect(
            result == [
                "task_id": "new", "reward": 0.4, "passed": false, "detail": ["why": "fee"],
            ]
        )
        #expect(try scratch.read("learnings.md").hasPrefix("# Learnings"))
    }

    @Test("a folder that is a symbolic link is not followed when a view is rendered")
    func linkedFolder() throws {
        let scratch = try Scratch()
        let outside = try Scratch()
        try scratch.open().makeLink("traces", to: outside.path)
        var sink = DirectorySink(adopting: try scratch.open())
        let record = TraceRecord(task: try TaskID("t"), messages: [], reward: nil, detail: nil)
        #expect(throws: WorkspaceError.self) {
            try WorkspaceView.render([record], as: .latest, into: &sink)
        }
        #expect(try outside.open().entries().isEmpty)
    }

    @Test(
        "times are those of the Gregorian calendar",
        arguments: [
            (0, "1970-01-01T00:00:00+00:00"), (951_782_400_000, "2000-02-29T00:00:00+00:00"),
            (4_107_542_399_000, "2100-02-28T23:59:59+00:00"),
            (4_107_542_400_000, "2100-03-01T00:00:00+00:00"),
        ] as [(Int64, String)]
    )
    func times(milliseconds: Int64, text: String) {
        #expect(Timestamp.text(milliseconds: milliseconds) == text)
    }
}

import ExamResults
import StrictJSON
import Testing
import Workspace

@Suite("The static audit")
struct StaticAuditTests {
    private static let publicText = "please follow the policy of the shop at all times and be kind"

    private func catalog(_ id: String, _ text: String, gold: JSONValue = [:]) throws -> TaskCatalog
    {
        let file: JSONValue = [
            "tasks": [
                [
                    "id": .string(id), "family": "refund", "text": .string(text),
                    "gold": gold,
                ]
            ]
        ]
        return try TaskCatalog(parsing: file.canonicalBytes, file: "tasks.json")
    }

    private func audit(
        usual: [String] = [],
        settings: String = ""
    ) throws -> StaticAudit {
        let train = try catalog(
            "refund-017",
            "Hello, I am Mia Li and I want to return the blue kettle of order W9911223 today. "
                + Self.publicText + " to everyone",
            gold: ["prices": [4_183, 5_279, 7_741, 9_967], "sum": "$83.37", "fee": 12.5]
        )
        let sealed = try catalog(
            "refund-099",
            "My name is Ulrike Stern and the copper lamp that you sent me in May arrived broken."
        )
        return StaticAudit(
            matter: AuditMatter(
                train: train.entries,
                sealed: sealed.entries,
                publicTexts: [Self.publicText]
            ),
            usual: usual
        )
    }

    private func kinds(_ text: String) throws -> [AuditFinding.Kind] {
        try audit().findings(in: text).map(\.kind)
    }

    private func places(_ text: String) throws -> [String] {
        try audit().findings(in: text).map { "\($0.kind.rawValue) \($0.line ?? 0)" }
    }

    private static let ordinary = """
        class HarnessAgent:
            def generate_next_message(self, message, state):
                if "refund" in message.content and state.get("order_id"):
                    return self.call("refund_order", {"order_id": state["order_id"]})
                # please follow the policy of the shop at all times
                total = "$%d.%02d" % divmod(int(state["cents"]), 100)
                pattern = re.compile(r"[0-9]{4,}")
                return f"How can I help you? {total:>10} {state['name']!r}"

            def evaluate(self, gold=None):
                return self.eval(gold, limit=4096, year=2026, wait=10_000)
        """

    @Test("an ordinary agent has no finding")
    func ordinaryAgent() throws {
        #expect(try kinds(Self.ordinary) == [])
    }

    // MARK: - tasks

    @Test("the id of a task and a number that only tasks hold are found, with their lines")
    func names() throws {
        #expect(try places("x = 1\nif task == 'refund-017': pass") == ["task-name 2"])
        #expect(try places("orders = {'W9911223': 1}") == ["task-name 1"])
    }

    @Test("copied phrases of tasks are found, respelled or not, and where they begin and end")
    func phrases() throws {
        let copy = "x = 1\n# hello I am mia li AND i want,\n#   to return the blue kettle of order"
        let findings = try audit().findings(in: copy)
        #expect(findings.map(\.kind) == [.taskText])
        #expect(findings.first?.line == 2)
        #expect(findings.first?.detail.hasSuffix("up to line 3") == true)
        let apart = "a = 'hello i am mia li' +\\\n 'and i want to return the blue kettle'"
        #expect(try kinds(apart) == [.taskText])
    }

    @Test("numbers of gold answers are found, in cents or in dollars, and a few are no finding")
    func numbers() throws {
        let table = "GOLD = [4183, 5_279,\n 77.41, 9967, '$83.37']"
        let findings = try audit().findings(in: table)
        #expect(findings.map(\.kind) == [.taskNumber])
        #expect(findings.first?.line == 1 && findings.first?.detail.contains("5 different") == true)
        #expect(try kinds("x = [4183, 5279, 7741]") == [])
    }

    @Test("how many sealed names a candidate guessed does not show in what it is told")
    func cut() throws {
        let paths = String(repeating: "x = '/proc'\n", count: 120)
        let guesses = String(repeating: "x = 'refund-099'\n", count: 30)
        func told(_ text: String) throws -> Int {
            try audit().findings(in: text).count { !$0.kind.isOfSealedTasks }
        }
        #expect(try told(guesses + paths) == told(paths))
        #expect(try audit().findings(in: guesses + paths).contains(where: \.kind.isOfSealedTasks))
    }

    @Test("what traces hold is kept up to a limit, the first of it first")
    func limit() throws {
        let early = "seven brown foxes carried letters over quiet frozen northern rivers yesterday"
        let late = "nine purple whales sang slowly beneath distant coral harbours before sunrise"
        let filler = String(repeating: "x", count: (4 << 20) - 200)
        var audit = try audit()
        audit.note(traces: [early, filler, late])
        func isKnown(_ text: String) -> Bool {
            audit.findings(in: "x = '\(text)'").contains { $0.kind == .traceText }
        }
        #expect(isKnown(early) && isKnown(late), "all of it is within the limit")
        var other = try self.audit()
        other.note(traces: [early, filler + filler, late])
        #expect(other.findings(in: "x = '\(early)'").contains { $0.kind == .traceText })
        #expect(!other.findings(in: "x = '\(late)'").contains { $0.kind == .traceText })
        other.note(traces: [late])
        #expect(other.findings(in: "x = '\(late)'").contains { $0.kind == .traceText })
    }

    @Test("a line of nothing but imports is read once", .timeLimit(.minutes(1)))
    func imports() throws {
        let many =
            String(repeating: "import ", count: 60_000) + String(repeating: "gc,", count: 60_000)
        #expect(try !audit().findings(in: many).isEmpty)
        let other = String(repeating: "import gc,gc,", count: 20_000)
        #expect(try !audit().findings(in: other).isEmpty)
    }

    @Test("lines that end in a carriage return too are lines")
    func carriageReturns() throws {
        let text = String(repeating: "x = 1\r\n", count: 200) + "y = 'refund-017'\r\n"
        let found = try audit().findings(in: text)
        #expect(found.map(\.line) == [201])
    }

    @Test("what only sealed tasks hold is told apart from what train tasks hold")
    func sealed() throws {
        #expect(try kinds("x = 'refund-099'") == [.sealedName])
        let copy = "# my name is ulrike stern and the copper lamp that you sent me"
        #expect(try kinds(copy) == [.sealedText])
        #expect(AuditFinding.Kind.allCases.filter(\.isOfSealedTasks).count == 2)
    }

    @Test("what an examiner said in a train exam is found, what the candidate said is its own")
    func traces() throws {
        var audit = try audit()
        let line = "# I cannot find the receipt any more but my neighbour saw it"
        #expect(audit.findings(in: line).isEmpty)
        audit.note(traces: ["I cannot find the receipt any more, but my neighbour saw it!"])
        #expect(audit.findings(in: line).map(\.kind) == [.traceText])
    }

    @Test("a finding never repeats what it found")
    func silence() throws {
        let text = "x = 'refund-099'\n# the copper lamp that you sent me in May arrived broken"
        let findings = try audit().findings(in: text)
        #expect(findings.count == 2)
        for word in ["refund", "copper", "lamp"] {
            #expect(!"\(findings.map(\.body))".contains(word))
        }
    }

    // MARK: - form

    @Test("base-64 and hexadecimal blobs are found, a long line of dashes is not")
    func blobs() throws {
        let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
        #expect(try kinds("b = '" + alphabet + alphabet + "'") == [.encodedBlob])
        let digits = String(repeating: "0f1e2d3c4b5a69788796a5b4c3d2e1f0", count: 5)
        #expect(try kinds("b = '\(digits)'") == [.encodedBlob])
        #expect(try kinds("#" + String(repeating: "a", count: 500)) == [])
    }

    @Test("a dense string is found although it is escaped, cut in pieces or many; prose is not")
    func dense() throws {
        let escaped = (0..<240).map { "\\x" + String(16 + ($0 * 37) % 239, radix: 16) }
        let pieces = stride(from: 0, to: 240, by: 12).map { start in
            "  b'" + escaped[start..<start + 12].joined() + "'"
        }
        #expect(try kinds("b = (\n" + pieces.joined(separator: "\n") + ")") == [.denseLiteral])
        let keys = (0..<30).map {
            "  '" + String(UInt64($0 + 3) &* 0x9E37_79B9_7F4A_7C15, radix: 36)
                + String(UInt64($0 + 7) &* 0xC2B2_AE3D_27D4_EB4F, radix: 36) + "': 1,"
        }
        #expect(try kinds("T = {\n" + keys.joined(separator: "\n") + "}") == [.denseLiteral])
        let prose = String(
            repeating: "Be polite, ask for the order, and say what it costs. ",
            count: 9
        )
        #expect(try kinds("PROMPT = '\(prose)'") == [])
    }

    @Test("a table of long numbers is found")
    func table() throws {
        let numbers = (0..<50).map { "\(7_654_321 + $0 * 7919)" }.joined(separator: ", ")
        #expect(try kinds("T = {\(numbers)}") == [.numberTable])
    }

    @Test("endless lines, turning marks, foreign letters and encodings are found")
    func form() throws {
        #expect(try kinds("x = '" + String(repeating: "ab ", count: 900) + "'") == [.longLine])
        #expect(try kinds("x = 1 # \u{202E} 1 == x") == [.hiddenText])
        #expect(try kinds("\u{1D452}val(x)") == [.hiddenText])
        #expect(try kinds("# -*- coding: utf-7 -*-\nx = 1") == [.hiddenText])
        #expect(try kinds("# -*- coding: utf-8 -*-\nx = 1") == [])
        #expect(try places("x = 1\ny = 'a\n") == ["unreadable 2"])
    }

    @Test("growth is measured in bytes and in lines, against the candidate that it replaces")
    func growth() throws {
        func candidate(_ text: String) throws -> CandidateSnapshot {
            try CandidateSnapshot(program: Array(text.utf8))
        }
        let old = try candidate("pass\n")
        func kinds(_ text: String) throws -> [AuditFinding.Kind] {
            try audit().findings(in: candidate(text), replacing: old).map(\.kind)
        }
        #expect(try kinds(String(repeating: "x = 1\n", count: 700)) == [])
        #expect(try kinds(String(repeating: "x = 1\n", count: 900)) == [.lineGrowth])
        let long = "# " + String(repeating: "na ", count: 500) + "\n"
        #expect(try kinds(String(repeating: long, count: 30)) == [.sizeGrowth])
    }

    // MARK: - words

    @Test(
        "ways out of the conversation are found where they stand",
        arguments: [
            ("import sys\nf = sys._getframe(1)", "frame-walking 2"),
            ("g = frame.f_back.f_locals", "frame-walking 1 frame-walking 1"),
            ("e.__traceback__.tb_frame", "frame-walking 1"),
            ("import inspect as i, gc", "frame-walking 1 frame-walking 1"),
            ("from ctypes import pythonapi", "frame-walking 1"),
            ("().__class__.__base__.__subclasses__()", "frame-walking 1"),
            ("x = 1\ngetattr(f, 'f_' + 'back')", "frame-walking 2"),
            ("getattr(f, '\\x66_back')", "frame-walking 1"),
            ("__import__('os')", "dynamic-code 1"),
            ("from importlib.util import find_spec", "dynamic-code 1"),
            (
                "exec(text)\neval(text)\ncompile(text, '', 'exec')",
                """
                dynamic-code 1 dynamic-code 2 dynamic-code 3 dynamic-code 3
                """
            ),
            ("vars(m)['__builtins__']['exec']", "dynamic-code 1 dynamic-code 1"),
            ("f'{eval(text)}'", "dynamic-code 1"),
            ("import socket", "network 1"),
            ("import os, urllib.request", "network 1"),
            ("from http.client import HTTPConnection", "network 1"),
            ("import subprocess", "process 1"),
            ("import os\nos.system('id')\nos.execv('/bin/sh', [])", "process 2 process 3"),
            ("import zlib, base64\nb64decode(x)", "decoding 1 decoding 1 decoding 2"),
            ("open('/proc/1/environ')", "foreign-path 1"),
            ("open('/vault/tasks.json')", "foreign-path 1"),
        ]
    )
    func words(_ text: String, _ expected: String) throws {
        #expect(try places(text).joined(separator: " ") == expected)
    }

    @Test("what the operator's own template names is no finding in a candidate")
    func usual() throws {
        let text = "import urllib.request\nimport socket"
        let audit = try audit(usual: ["import urllib.request\n"])
        #expect(audit.findings(in: text).map(\.line) == [2])
        #expect(audit.findings(in: text, isPython: false).isEmpty)
    }

    @Test("of several files, a finding names its file, and growth is that of all together")
    func severalFiles() throws {
        let texts = [
            "agent/agent.py": "pass\n",
            "agent/a.md": "\n\nsee refund-017, or import socket\n",
            "agent/b.py": "import gc\n" + String(repeating: "x = 1\n", count: 900),
        ]
        let candidate = try CandidateSnapshot(
            checking: texts.map { CandidateFile(path: $0.key, bytes: Array($0.value.utf8)) }
        )
        let old = try CandidateSnapshot(program: Array("pass\n".utf8))
        let found = try audit().findings(in: candidate, replacing: old)
        #expect(found.map(\.kind) == [.lineGrowth, .taskName, .frameWalking])
        #expect(found.map(\.file) == [nil, "agent/a.md", "agent/b.py"])
        #expect(found.map(\.line) == [nil, 3, 1])
        #expect(found[1].words == "task-name in line 3 of agent/a.md: 1 names of tasks")
    }
}

import Foundation
import HostKernel
import Ledger
import LinuxKernel
import StrictJSON
import Testing

extension EndToEnd {
    /// Policies that have the kernel record what Landlock refuses.
    @Suite struct LandlockLog {
        /// The host's audit subsystem, switched for the time of a test.
        private final class Audit {
            private let before: Bool

            init(isOn: Bool) throws {
                before = try AuditSocket.isEnabled()
                try Self.set(isOn)
            }

            // AUDIT_SET, struct audit_status: AUDIT_STATUS_ENABLED, the value, and eight words unused.
            private static func set(_ isOn: Bool) throws {
                let status: [UInt8] = [1, 0, 0, 0, isOn ? 1 : 0, 0, 0, 0]
                let unused = [UInt8](repeating: 0, count: 32)
                try AuditSocket.ask(1001, status + unused, answer: nil)
            }

            func end() throws { try Self.set(before) }
        }

        /// The shipped policies, of which those named log.
        private static func policies(
            logging names: [String],
            in scratch: Scratch
        ) throws -> String {
            let folder = "\(scratch.path)/policies"
            try FileManager.default.copyItem(
                atPath: "\(Stage.repository)/policies",
                toPath: folder
            )
            for name in names {
                let file = "\(folder)/\(name).yaml"
                let shipped = try String(contentsOfFile: file, encoding: .utf8)
                // Of a candidate, Landlock refuses hardly anything but in a procfs, which it has none of.
                let text = shipped.replacing("minimum-abi: 6", with: "minimum-abi: 7, log: true")
                    .replacing("proc: none", with: "proc: pid-only")
                var reasons = text.contains("\nbecause:\n") ? "" : "because:\n"
                reasons += "  landlock.log: a test\n"
                if shipped.contains("proc: none") { reasons += "  proc: a test\n" }
                try (text + reasons).write(toFile: file)
            }
            return folder
        }

        // Would write to what no mount flag protects.
        private static func attempts(_ count: Int) -> String {
            "import os\nfor n in range(\(count)):\n    try: os.open('/proc/self/comm', os.O_WRONLY)\n"
                + "    except OSError: pass\n"
        }

        private static func exec(
            _ count: Int,
            policies: String,
            in night: Night
        ) throws -> JSONValue {
            let ended = try night.run(
                ["sandbox", "exec", "--json", "--no-terminal", "--directory", policies],
                after: [
                    "--policy", "coding-agent", "--", "/usr/bin/python3", "-I", "-B", "-c",
                    attempts(count),
                ]
            )
            #expect(ended.code == 0, "\(ended)")
            let line = try #require(ended.output.split(separator: "\n").last)
            return try JSONValue(parsing: Array(line.utf8), limits: .document)
        }

        private static func told(_ result: JSONValue) -> [JSONValue] {
            (result["denials"]?.arrayValue ?? []).filter { $0["layer"] == "landlock" }
        }

        @Test("what Landlock refuses is an event where the policy logs it, and only there")
        func events() throws {
            let night = try Night()
            let audit = try Audit(isOn: true)
            defer { try? audit.end() }
            let policies = try Self.policies(logging: ["coding-agent"], in: night.scratch)
            let result = try Self.exec(3, policies: policies, in: night)
            let told = Self.told(result)
            #expect(told.count == 1 && told.first?["count"] == 3, "\(result)")
            #expect(told.first?["call"] == "fs.write_file" && told.first?["argument"] == "/proc")
            #expect(told.first?["sandbox"] == "coding-agent")
            #expect(told.first?["program"]?.stringValue?.hasPrefix("python3") == true)
            #expect(told.first?["path"]?.stringValue?.hasSuffix("/comm") == true)
            #expect(told.first?["allowed_by"] == "nothing: compiled in")
            #expect(result["landlock_log"] == ["gap": .null, "records_lost": 0])

            let shipped = "\(Stage.repository)/policies"
            let silent = try Self.exec(3, policies: shipped, in: night)
            #expect(Self.told(silent).isEmpty && silent["landlock_log"] == nil)
        }

        @Test("a flood is a number, whatever of its records is lost")
        func flood() throws {
            let night = try Night()
            let audit = try Audit(isOn: true)
            defer { try? audit.end() }
            let policies = try Self.policies(logging: ["coding-agent"], in: night.scratch)
            let result = try Self.exec(20_000, policies: policies, in: night)
            let told = Self.told(result)
            #expect((1...2).contains(told.count), "\(result)")
            // The domain's last record has the sum; where the kernel dropped that one as well, it is said.
            let sum = told.compactMap { $0["count"]?.intValue }.reduce(0, +)
            let lost = result["landlock_log"]?["records_lost"]?.intValue ?? 0
            #expect(sum == 20_000 || sum < 20_000 && lost > 0, "\(result)")
        }

        @Test("a host without records runs the sandbox all the same, and says what is missing")
        func gap() throws {
            let night = try Night()
            let audit = try Audit(isOn: false)
            defer { try? audit.end() }
            let policies = try Self.policies(logging: ["coding-agent"], in: night.scratch)
            let result = try Self.exec(3, policies: policies, in: night)
            #expect(Self.told(result).isEmpty)
            let gap = result["landlock_log"]?["gap"]?.stringValue
            #expect(gap?.contains("audit is off; auditctl -e 1") == true, "\(result)")
        }

        @Test("in a run they are rows with counts; of a sealed exam neither name nor path is kept")
        func recorded() throws {
            let night = try Night()
            let audit = try Audit(isOn: true)
            defer { try? audit.end() }
            let folder = try Self.policies(
                logging: ["coding-agent", "candidate"],
                in: night.scratch
            )
            let attempt =
                "try: __import__('os').open('/proc/self/comm', 1)\\nexcept OSError: pass\\n"
            let agent = """
                \(Self.attempts(50))
                write(source() + "\\n" + "\(attempt)")
                with open("/work/workspace/train_results.json") as file:
                    task = sorted(json.load(file)["results"])[0]
                say("train", code=code(ask("train", task_ids=[task])))
                judged()
                """
            try night.prepare(
                Configuration(agent: agent, more: "sandbox: { policies: \(folder) }")
            )
            let ended = try night.run(["run", night.directory])
            #expect(ended.code == 0, "\(ended)")
            let rows = try night.bodies(.refusal).filter { $0["layer"] == "landlock" }
            let own = rows.filter { $0["by"] == "coding-agent" }
            let attempts: [JSONValue] = ["fs.write_file (/proc)", "further refusals"]
            #expect(
                own.allSatisfy { row in attempts.contains { row["attempt"] == $0 } },
                "\(rows)"
            )
            #expect(own.compactMap { $0["count"]?.intValue }.reduce(0, +) == 50, "\(rows)")
            #expect(
                own.first?["detail"]?.stringValue?.hasPrefix("first by «python3") == true,
                "\(rows)"
            )
            let candidates = rows.filter { $0["by"] == "candidate" }
            // Train exams name what was tried first; the sealed one has the right and the count alone.
            let named = candidates.filter { $0["attempt"] == "fs.write_file (/proc)" }
            #expect(!named.isEmpty, "\(rows)")
            let sealed = candidates.filter { $0["attempt"] == "fs.write_file" }
            #expect(sealed.count == 1, "\(rows)")
            #expect(sealed.first?["detail"] == "nothing allows it: compiled in", "\(rows)")
            // Nobody counts what a candidate looks up: what the host's counters tell is measured, and charged.
            let exams = try night.bodies(.examEnded).filter { $0["purpose"] == "sealed" }
            #expect(exams.allSatisfy { ($0["uncounted_bits"]?.numberValue ?? 0) > 0 }, "\(exams)")
            let status = try night.run(["status", night.directory, "--json"])
            let calls = try JSONValue(
                parsing: Array(status.output.utf8),
                limits: .document
            )["refusals"]?["calls"]?.arrayValue
            #expect(
                calls?.contains { $0["layer"] == "landlock" && $0["by"] == "coding-agent" } == true
            )
            try night.expectSettled()
        }
    }
}

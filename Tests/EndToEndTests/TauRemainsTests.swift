import Foundation
import Ledger
import StrictJSON
import Testing

extension EndToEnd {
    /// What a night with the real tau2 leaves, down to the bytes of the disk that held its state.
    @Suite struct TauRemains {
        @Test(
            "A04, A10: a sealed exam leaves nothing on the raw disk but in the vault, deleted files included"
        )
        func disk() throws {
            let scratch = try Scratch()
            let disk = try RawDisk(scratch)
            let marked = MarkedTasks(count: 6)
            let since = try marker(of: "since", scratch)
            let stage = try TauStage(tasks: marked.text, in: scratch, state: "\(disk.path)/state")
            try night(stage)
            try control(on: disk)
            let vault = try disk.files(below: "\(disk.path)/state/vault/\(stage.night.id())")
            #expect(vault.contains { $0.hasSuffix("test/tasks.json") }, "\(vault)")
            let elsewhere = try found(marked.train + marked.sealed, since: since, scratch)
            try disk.unmount()
            let places = try disk.places(of: marked.train + marked.sealed + [Self.deleted])
            // The instrument: what was deleted, what is in the vault, what train exams leave.
            #expect(places[Self.deleted]?.isEmpty == false, "a deleted file is found")
            let inVault = try disk.blocks(of: vault)
            for mark in marked.train {
                let outside = (places[mark] ?? []).filter { !inVault.contains($0) }
                #expect(!outside.isEmpty, "the trace of \(mark) is found")
            }
            for mark in marked.sealed {
                let all = places[mark] ?? []
                #expect(!all.isEmpty, "\(mark) is in the vault")
                let outside = all.filter { !inVault.contains($0) }
                #expect(outside.isEmpty, "\(mark) is at \(outside.map { $0.offset })")
            }
            #expect(elsewhere.isEmpty, "\(elsewhere)")
        }

        private static let deleted = "tau-mark-deletedfile"

        /// A train exam, a sealed one, the report, and what they leave in the experiment's directory.
        private func night(_ stage: TauStage) throws {
            let planting = try Stage.fixtureText("tau_planting.py")
            try stage.configure(
                "TEXT = r'''\(planting)'''\nask('train')\nwrite(TEXT)\nask('train')\njudged()\n"
            )
            let night = stage.night
            let prepared = try night.run(["prepare", night.directory], seconds: 120)
            try #require(prepared.code == 0, "\(prepared)")
            let ended = try night.run(["run", night.directory], seconds: 200)
            #expect(ended.code == 0, "\(ended)")
            try night.expectSettled()
            let decision = try #require(try night.bodies(.decision).first)
            // A word that is searched for, in five of six tasks; the judge of the sixth is strict.
            #expect(try #require(decision["sealed_mean"]?.numberValue) > 0.8, "\(decision)")
            try night.done(["report", night.directory, "-o", "\(night.directory)/report.html"])
        }

        /// A file that is written, flushed and deleted.
        private func control(on disk: RawDisk) throws {
            let file = "\(disk.path)/state/short-lived"
            try Self.deleted.write(toFile: file)
            try disk.flush()
            try FileManager.default.removeItem(atPath: file)
        }

        private func marker(of name: String, _ scratch: Scratch) throws -> String {
            let file = "\(scratch.path)/\(name)"
            try "".write(toFile: file)
            return file
        }

        /// The files of the host, changed since, that hold one of these words.
        ///
        /// Not counted are the benchmark's own directory, which the operator wrote, and train's traces.
        private func found(
            _ words: [String],
            since: String,
            _ scratch: Scratch
        ) throws -> [String] {
            let sealed = words.filter { $0.hasPrefix(MarkedTasks.sealedPrefix) }
            let list = "\(scratch.path)/words"
            try (sealed.joined(separator: "\n") + "\n").write(toFile: list)
            let line = """
                find /tmp /var /dev/shm /run /etc "$3" -xdev -type f -newer "$1" -size -64M \
                ! -path "$3/disk/*" ! -path "$3/tau-bench/*" -print0 2>/dev/null \
                | xargs -0 -r grep -lasF -f "$2" -- || true
                """
            let ended = try Program(
                "/bin/sh",
                ["-c", line, "sh", since, list, scratch.path],
                temporary: "\(scratch.path)/tmp"
            ).waitForEnd(seconds: 120)
            let files = ended.output.split(separator: "\n").map(String.init)
            // The instrument: the list of words itself is a file that is found.
            #expect(files.contains(list), "\(files)")
            return files.filter { $0 != list }
        }
    }
}

/// Tasks of our own in tau2's form, each with a word in every place that tau2 or a model sees.
private struct MarkedTasks {
    static let sealedPrefix = "tau-mark-sealed"
    let train: [String]
    let sealed: [String]

    init(count: Int) {
        func words(_ prefix: String) -> [String] {
            (0..<count).map { _ in
                prefix
                    + String(
                        (0..<12).map { _ in "abcdefghijklmnopqrstuvwxyz".randomElement() ?? "a" }
                    )
            }
        }
        train = words("tau-mark-train")
        sealed = words(Self.sealedPrefix)
    }

    var text: String {
        let entries =
            train.enumerated().map { Self.entry($1, "train", isJudged: $0 == 0) }
            + sealed.enumerated().map { Self.entry($1, "test", isJudged: $0 == 0) }
        let file: JSONValue = ["domain": "telecom", "tasks": .array(entries)]
        return String(decoding: file.canonicalBytes, as: UTF8.self)
    }

    private static func entry(_ mark: String, _ split: String, isJudged: Bool) -> JSONValue {
        let basis: JSONValue = isJudged ? ["NL_ASSERTION"] : ["COMMUNICATE"]
        let task: JSONValue = [
            "id": .string(mark), "ticket": .string("ticket \(mark)"),
            "description": ["purpose": .string(mark), "notes": .string("notes \(mark)")],
            "user_scenario": [
                "persona": .string("persona \(mark)"),
                "instructions": [
                    "domain": "telecom", "reason_for_call": .string("case \(mark)"),
                    "known_info": .string("known \(mark)"),
                    "task_instructions": .string("do as \(mark) says"),
                ],
            ],
            "evaluation_criteria": [
                "communicate_info": [.string(mark)],
                "nl_assertions": [.string("it said \(mark)")],
                "reward_basis": basis,
            ],
        ]
        return [
            "id": .string(mark), "family": "calls", "split": .string(split), "task": task,
        ]
    }
}

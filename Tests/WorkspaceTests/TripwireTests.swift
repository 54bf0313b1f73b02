import ExamResults
import StrictJSON
import Testing
import Workspace

@Suite("Watched strings")
struct WatchedStringsTests {
    private let secret = "bcdfghjklmnpqrstbcdfghjk"

    private func found(_ text: String) -> [Tripwire.Kind] {
        WatchedStrings([.canary: [secret], .honeytoken: ["zzyyxxwwvvuuttssrrqqppoo"]]).found(
            in: text
        )
    }

    private static let digits = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    )

    private func base64(_ text: String) -> String {
        let bits = text.utf8.flatMap { byte in (0..<8).map { byte >> (7 - $0) & 1 } }
        return stride(from: 0, to: bits.count, by: 6).map { start in
            let group = bits[start..<min(start + 6, bits.count)]
            let value = group.reduce(0) { $0 << 1 | Int($1) } << (6 - group.count)
            return String(Self.digits[value])
        }.joined()
    }

    @Test(
        "a string is found as it stands, shouted, backwards, in pieces, in hexadecimal and base 64"
    )
    func spellings() {
        let hexadecimal = secret.utf8.map { String($0, radix: 16) }.joined()
        let pieces = secret.map { "'\($0)'" }.joined(separator: " +\n  ")
        for text in [
            secret, secret.uppercased(), String(secret.reversed()), pieces, hexadecimal,
            hexadecimal.uppercased(), base64(secret), base64("x" + secret),
            base64("xy" + secret + "z"),
        ] {
            #expect(found("before \(text) after") == [.canary], "\(text)")
        }
    }

    @Test("what is near it, a part of it and nothing at all are not found")
    func others() {
        for text in [
            "", "x", String(secret.dropLast()), String(secret.dropFirst()),
            secret.replacingCharacters(), String(repeating: "b", count: 4_000),
        ] {
            #expect(found(text).isEmpty, "\(text)")
        }
    }

    @Test("each kind is told, and a string that is too short to mean anything is not watched")
    func kinds() {
        #expect(found("\(secret) zzyyxxwwvvuuttssrrqqppoo") == [.canary, .honeytoken])
        #expect(WatchedStrings([.canary: ["short"]]).found(in: "short").isEmpty)
        #expect(WatchedStrings([:]).found(in: secret).isEmpty)
    }
}

extension String {
    /// The same with one letter changed in its middle.
    fileprivate func replacingCharacters() -> String {
        String(enumerated().map { $0.offset == count / 2 ? "x" : $0.element })
    }
}

@Suite("Words that are drawn from the split's key")
struct SecretWordsTests {
    private let first = SecretWords(key: [UInt8](repeating: 7, count: 32))
    private let second = SecretWords(key: [UInt8](repeating: 8, count: 32))

    private func catalog() throws -> TaskCatalog {
        let tasks: [JSONValue] = (1...8).map { number in
            [
                "id": .string("t-\(number)"), "family": "a",
                "marker": .string("mark-\(number)-here"),
                "says": .string("My reference is mark-\(number)-here, order W10\(number)4233."),
                "gold": ["order": .string("W10\(number)4233"), "cents": JSONValue(4_000 + number)],
            ]
        }
        let file: JSONValue = ["tasks": .array(tasks), "shared": "mark-1-here"]
        return try TaskCatalog(parsing: file.canonicalBytes, file: "tasks.json")
    }

    @Test("a canary depends on key and task alone, and nobody reads a number or a word in it")
    func canaries() throws {
        let task = try TaskID("t-1")
        #expect(
            first.canary(of: task)
                == SecretWords(key: [UInt8](repeating: 7, count: 32)).canary(of: task)
        )
        #expect(first.canary(of: task) != second.canary(of: task))
        #expect(first.canary(of: task) != first.canary(of: try TaskID("t-2")))
        #expect(first.canary(of: task).count == 24)
        #expect(first.canary(of: task).allSatisfy { $0.isLowercase && !"aeiou".contains($0) })
    }

    @Test(
        "a canary takes its member's place wherever the text stands in its task, and nowhere else"
    )
    func replacing() throws {
        let drawn = try catalog().replacing("marker", with: first)
        let entry = try #require(drawn.entries.first)
        let canary = first.canary(of: entry.id)
        #expect(entry.content["marker"]?.stringValue == canary)
        #expect(
            entry.content["says"]?.stringValue?.contains("is \(canary), order W1014233") == true
        )
        let text = String(decoding: drawn.file(of: Set(drawn.entries.map(\.id))), as: UTF8.self)
        #expect(drawn.entries.allSatisfy { !"\($0.content)".contains("mark-") })
        #expect(text.contains(#""shared":"mark-1-here""#), "what is no task's is left alone")
    }

    @Test(
        "bait looks like tasks, holds nothing of theirs that decides, and its words stand nowhere else"
    )
    func bait() throws {
        let tasks = try catalog()
        let bait = HoneyGold(like: tasks.entries, first)
        let file = try JSONValue(parsing: bait.bytes, limits: .document)
        let laid = file["tasks"]?.arrayValue ?? []
        #expect(laid.count == 6)
        #expect(laid.allSatisfy { $0["gold"]?["order"]?.stringValue?.hasPrefix("W") == true })
        let text = String(decoding: bait.bytes, as: UTF8.self)
        for entry in tasks.entries {
            let order = try #require(entry.content["gold"]?["order"]?.stringValue)
            #expect(!text.contains(order) && !text.contains("\"\(entry.id.text)\""))
        }
        #expect(bait.words.count == 12 && bait.words.allSatisfy { text.contains($0) })
        #expect(HoneyGold(like: tasks.entries, first) == bait)
        #expect(Set(HoneyGold(like: tasks.entries, second).words).isDisjoint(with: bait.words))
    }
}

@Suite("Tasks that watch for cheats")
struct WatchfulTasksTests {
    private func task(_ text: String) throws -> TaskID { try TaskID(text) }

    private func results(_ rewards: [String: Double]) throws -> TrialResults {
        var outcomes: [TaskID: TaskOutcome] = [:]
        for (name, reward) in rewards { outcomes[try task(name)] = .graded(try Reward(reward)) }
        return TrialResults(try ExamResults(planned: Array(outcomes.keys), outcomes: outcomes))
    }

    private func watchful() throws -> WatchfulTasks {
        WatchfulTasks(
            impossible: [try task("no-1"), try task("no-2")],
            twins: [
                WatchfulTasks.Twins(task: try task("a"), twin: try task("a-twin")),
                WatchfulTasks.Twins(task: try task("b"), twin: try task("b-twin")),
            ]
        )
    }

    @Test("sentinels are the impossible and paired tasks of the train split")
    func sentinels() throws {
        let train = try ["a", "b", "c", "no-2"].map(task)
        #expect(try watchful().sentinels(among: train).map(\.text) == ["a", "b", "no-2"])
        #expect(WatchfulTasks.none.sentinels(among: train).isEmpty)
    }

    @Test("a pass of an impossible task is told, a near miss and other tasks are not")
    func impossible() throws {
        let results = try results(["no-1": 0.5, "no-2": 0.49, "a": 1])
        #expect(try watchful().passedImpossible(in: results).map(\.text) == ["no-1"])
    }

    @Test("the gap is the difference of mean rewards, over pairs that have both")
    func gap() throws {
        let train = try results(["a": 1, "b": 1, "c": 0])
        let gap = try watchful().twinGap(
            train: train,
            sealed: results(["a-twin": 0, "b-twin": 0.5])
        )
        #expect(gap?.gap == 0.75 && gap?.pairs == 2)
        let one = try watchful().twinGap(train: train, sealed: results(["b-twin": 1]))
        #expect(one?.gap == 0 && one?.pairs == 1)
        #expect(try watchful().twinGap(train: train, sealed: results(["x": 1])) == nil)
    }

    // MARK: - documents

    private func manifest(_ more: String) throws -> BenchmarkManifest {
        let text = BenchmarkManifestTests.whole + "\n" + more + "\n"
        return try BenchmarkManifest(parsing: Array(text.utf8), file: "benchmark.yaml")
    }

    @Test("a manifest names canary, impossible tasks and twins")
    func keys() throws {
        let read = try manifest(
            "canary: marker\nimpossible: [no-1, no-2]\ntwins: [{task: a, twin: b}, {task: c, twin: d}]"
        ).watchful
        #expect(read.canary == "marker" && read.impossible.count == 2)
        #expect(read.twins.map(\.twin.text) == ["b", "d"])
        #expect(try manifest("").watchful == .none)
    }

    @Test(
        "a key that names no task, names one twice or would draw an id anew is refused",
        arguments: [
            "canary: id", "canary: a b", "canary: 3", "impossible: [a, a]", "impossible: ['a b']",
            "twins: [{task: a, twin: a}]", "twins: [{task: a, twin: b}]",
            "twins: [{task: a, twin: b}, {task: b, twin: c}]",
            "twins: [{task: a}]", "twins: [{task: a, twin: b, gap: 1}]", "twins: {a: b}",
        ]
    )
    func refused(_ line: String) {
        #expect(throws: WorkspaceError.self) { try manifest(line) }
    }

    @Test(
        "tasks that the benchmark does not have, and a member that is no text of its own, are refused"
    )
    func strangers() throws {
        let file: JSONValue = [
            "tasks": [
                ["id": "a", "family": "x", "marker": "first-marker", "same": "the-same-text"],
                ["id": "b", "family": "x", "marker": "second-marker", "same": "the-same-text"],
                ["id": "c", "family": "x", "marker": "third-marker", "same": "the-same-text"],
                ["id": "d", "family": "x", "marker": "fourth-marker", "same": "the-same-text"],
            ]
        ]
        let tasks = try TaskCatalog(parsing: file.canonicalBytes, file: "tasks.json")
        let twins = "twins: [{task: a, twin: b}, {task: c, twin: "
        try manifest("canary: marker\n\(twins)d}]")
            .requireWatchful(in: tasks, file: "f")
        for line in [
            "canary: same", "canary: none", "impossible: [e]", "\(twins)e}]",
        ] {
            #expect(throws: WorkspaceError.self, "\(line)") {
                try manifest(line).requireWatchful(in: tasks, file: "f")
            }
        }
    }

    @Test("whatever the key, a pair's task is a train task and its twin is sealed")
    func split() throws {
        let tasks = try (0..<14).map { (id: try task("t-\($0)"), family: $0 < 7 ? "a" : "b") }
        let pairs = [
            WatchfulTasks.Twins(task: try task("t-0"), twin: try task("t-1")),
            WatchfulTasks.Twins(task: try task("t-7"), twin: try task("t-13")),
        ]
        var usual = 0
        for seed in UInt8(0)..<20 {
            let key = [UInt8](repeating: seed, count: 32)
            let draw = try SplitDraw(of: tasks, key: key, twins: pairs)
            for pair in pairs {
                #expect(draw.train.contains(pair.task) && draw.test.contains(pair.twin))
            }
            let free = try SplitDraw(of: tasks, key: key)
            #expect(free.test.count == draw.test.count)
            usual += free.test.contains(pairs[0].twin) ? 1 : 0
        }
        #expect((1..<20).contains(usual), "without pairs the key decides")
        let many = try (0..<5).map {
            WatchfulTasks.Twins(task: try task("t-\($0)"), twin: try task("t-\($0 + 9)"))
        }
        #expect(throws: WorkspaceError.self) {
            try SplitDraw(of: tasks, key: [UInt8](repeating: 1, count: 32), twins: many)
        }
    }

    @Test("what tripwires lead to is read, part of the digest, and left alone changes nothing")
    func settings() throws {
        func read(_ text: String) throws -> ExperimentConfig {
            try ExperimentConfig(parsing: Array(text.utf8), file: "experiment_config.yaml")
        }
        let plain = try read("benchmark: x\n")
        #expect(plain.tripwires == .standard && plain.tripwires.policy == .void)
        #expect(plain.resolved["tripwires"] == nil)
        let said = try read(
            "benchmark: x\ntripwires: { policy: stop, honeytokens: false, twin-gap: 0.25 }\n"
        )
        #expect(said.tripwires.policy == .stop && !said.tripwires.honeytokens)
        #expect(said.tripwires.twinGap == 0.25 && said.digest != plain.digest)
        for bad in ["{policy: warn}", "{twin-gap: 2}", "{honeytokens: some}", "{gap: 1}"] {
            #expect(throws: WorkspaceError.self) { try read("benchmark: x\ntripwires: \(bad)\n") }
        }
    }
}

import Foundation
import Ledger
import SandboxPlan
import StrictJSON
import Testing

/// An experiment with a baseline, whose file can be judged again and again.
struct PreparedExperiment {
    private let build: InstalledBuild
    private let directory: String
    private let state: String

    init(_ build: InstalledBuild, in scratch: Scratch) throws {
        self.build = build
        try build.install(.watching)
        let place = "\(scratch.path)/\(UUID().uuidString.prefix(8))"
        (directory, state) = (place + "/experiment", place + "/state")
        let benchmark = ["--benchmark", Builds.fixtures + "/sums"]
        let agent = ["--agent", InstalledBuild.profile]
        for words in [["init", directory] + benchmark + agent, ["prepare", directory]] {
            let outcome = try command(words)
            guard outcome.status == 0 else {
                throw Experiment.Failed(description: "\(words[0]): \(outcome.errors)")
            }
        }
    }

    func command(
        _ words: [String],
        omitting layers: [Layer] = []
    ) throws -> InstalledBuild.Outcome {
        try build.run(words + ["--state-directory", state], omitting: layers)
    }

    /// Changes the file in the experiment's directory, because the same bytes get no second try, and
    /// judges it, which has a sealed exam in it.
    func gate(omitting layers: [Layer] = []) throws -> InstalledBuild.Outcome {
        let file = directory + "/agent/agent.py"
        let text = try String(contentsOfFile: file, encoding: .utf8)
        try (text + "# \(layers.map(\.rawValue))\n").write(
            toFile: file,
            atomically: true,
            encoding: .utf8
        )
        return try command(["gate", directory], omitting: layers)
    }

    func rows() throws -> [LedgerEntry] {
        let experiments = state + "/experiments"
        let id = try #require(FileManager.default.contentsOfDirectory(atPath: experiments).first)
        return try LedgerReader.open(at: "\(experiments)/\(id)/ledger.sqlite").entries()
    }
}

extension RedTeam {
    /// The quick set of probes: it must see each wall fall, or it shows nothing.
    @Suite("A sealed exam without one wall")
    struct SelfCheckTests {
        /// The probes that name a missing layer.
        ///
        /// The switch of mount flags also takes away the Landlock rules that repeat them, and without a
        /// filter nobody counts objects. A network that is the host's has the host's files, and the lower
        /// level that comes of it is named first.
        private static func probes(of layer: Layer) -> Set<String> {
            switch layer {
            case .readOnlyMounts: [layer.rawValue, "landlock"]
            case .filter: [layer.rawValue, "objects"]
            case .network: ["net-files"]
            default: [layer.rawValue]
            }
        }

        /// A host without these has another level, and nothing begins.
        private static let lowering: [Layer] = [.limits, .freeze, .network, .netFiles]

        private static func named(in errors: String) -> Set<String> {
            Set(errors.matches(of: /probe ([a-z-]+), sandbox/).map { String($0.output.1) })
        }

        @Test("it is refused by the name of exactly that wall, with 3 and a cure, and recorded")
        func refused() throws {
            let experiment = try Hall.shared().prepared()
            for layer in LayerTests.layers + [.freeze] {
                let before = try experiment.rows()
                let outcome = try experiment.gate(omitting: [layer])
                #expect(outcome.status == 3, "\(layer): \(outcome)")
                #expect(Self.named(in: outcome.errors) == Self.probes(of: layer), "\(outcome)")
                let new = try experiment.rows().dropFirst(before.count)
                #expect(!new.contains { Self.isSealed($0) && $0.kind == .examEnded }, "\(layer)")
                guard !Self.lowering.contains(layer) else {
                    #expect(outcome.errors.contains("reaches single-uid"), "\(outcome)")
                    #expect(new.isEmpty)
                    continue
                }
                let refusals = new.filter { $0.kind == .refusal }.map(\.body)
                #expect(
                    Set(refusals.compactMap { $0["layer"]?.stringValue })
                        == Self.probes(of: layer)
                )
                #expect(refusals.allSatisfy { $0["by"] == "supervisor" })
                // A run takes the candidate up that the one before left open, and nothing beside it.
                #expect(try experiment.gate().output.contains("busy"), "\(layer)")
            }
            // The control: the same file is judged where nothing is missing.
            let sound = try experiment.gate()
            #expect([0, 1].contains(sound.status), "\(sound)")
            #expect(try experiment.rows().last { Self.isSealed($0) }?.kind == .examEnded)
        }

        private static func isSealed(_ row: LedgerEntry) -> Bool { row.body["purpose"] == "sealed" }

        @Test("without the quick set an exam runs although a wall is missing")
        func withoutIt() throws {
            let experiment = try Hall.shared().prepared()
            let outcome = try experiment.gate(omitting: [.landlock, .selfCheck])
            #expect([0, 1].contains(outcome.status), "\(outcome)")
        }

        @Test("the exams of a benchmark's check are refused so too, and run without the quick set")
        func conformance() throws {
            let experiment = try Hall.shared().prepared()
            let words = ["benchmark", "check", Builds.fixtures + "/sums", "--json"]
            for layer in [Layer.landlock, .readOnlyMounts] {
                let outcome = try experiment.command(words, omitting: [layer])
                #expect(outcome.status == 3, "\(layer): \(outcome)")
                #expect(Self.named(in: outcome.errors) == Self.probes(of: layer), "\(outcome)")
                #expect(outcome.output.isEmpty, "\(outcome)")
            }
            for layers in [[], [Layer.landlock, .selfCheck]] {
                let outcome = try experiment.command(words, omitting: layers)
                let json = try JSONValue(parsing: Array(outcome.output.utf8), limits: .document)
                #expect(json["conforms"] == true, "\(outcome)")
            }
        }

        @Test("doctor names the invariants of each missing wall")
        func doctor() throws {
            let experiment = try Hall.shared().prepared()
            for (layer, names) in [
                (Layer.filter, ["native-filter", "refused-calls", "side-channels"]),
                (.limits, ["core-dumps", "limits"]), (.freeze, ["freezer"]),
                (.network, ["loopback-only", "side-channels"]),
            ] {
                let outcome = try experiment.command(["doctor", "--json"], omitting: [layer])
                #expect(outcome.status == 3)
                let json = try JSONValue(parsing: Array(outcome.output.utf8), limits: .document)
                let bad = (json["invariants"]?.arrayValue ?? []).filter {
                    $0["state"] != "enforced"
                }
                #expect(bad.compactMap { $0["id"]?.stringValue } == names, "\(layer)")
                #expect(bad.allSatisfy { $0["state"] == "missing" && $0["cure"] != .null })
                let isFull = json["assurance"] == "full"
                #expect(isFull == !Self.lowering.contains(layer))
            }
        }
    }
}

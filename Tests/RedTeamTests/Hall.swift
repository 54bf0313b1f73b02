import SandboxPlan
import Synchronization
import Testing

/// The experiments of these tests, each run once, when a test first asks for it.
final class Hall: Sendable {
    private let scratch: Scratch
    private let shipped: InstalledBuild
    private let testOnly: InstalledBuild
    private let finished = Mutex<[String: Result<Experiment, any Error>]>([:])

    /// The hall of the running suite.
    @TaskLocal static var current: Hall?

    static func shared() throws -> Hall {
        try #require(current, "the suite has no hall: it lacks the trait")
    }

    init() throws {
        scratch = try Scratch()
        shipped = try InstalledBuild(Builds.shipped, in: scratch, named: "shipped")
        testOnly = try InstalledBuild(Builds.testOnly, in: scratch, named: "test-only")
    }

    /// Every cheat in one experiment, as the demonstration has them, with the build that ships.
    ///
    /// The variable that leaves layers out is set to all of them: this build does not know it.
    func allCheatsAsShipped() throws -> Experiment {
        try once("shipped") {
            try run(shipped, .cheats(Cheat.all.map(\.name)), omitting: Layer.allCases)
        }
    }

    /// Every cheat with the test-only build, nothing left out.
    func allCheatsTestOnly() throws -> Experiment {
        try once("test-only") {
            try run(testOnly, .cheats(Cheat.all.map(\.name)))
        }
    }

    /// The cheats that a layer stops, without that layer.
    func cheats(without layer: Layer) throws -> Experiment {
        try once(layer.rawValue) {
            let names = Cheat.all.filter { $0.layer == layer }.map(\.name)
            // The quick set would refuse the exam before the cheat is tried.
            return try run(testOnly, .cheats(names), omitting: [layer, .selfCheck])
        }
    }

    /// Every further cheat in one night, with the build that ships.
    func furtherAsShipped() throws -> Experiment {
        try once("further") {
            let listener = try Listener()
            let words = ["listener=\(listener.port)"] + FurtherCheat.all.map(\.name)
            var experiment = try run(shipped, .further(words), omitting: Layer.allCases)
            experiment.connections = try listener.close()
            return experiment
        }
    }

    /// Those of them that a layer with a switch stops, without these layers.
    func furtherWithoutLayers() throws -> Experiment {
        try once("further-without") {
            let open = FurtherCheat.all.filter { !$0.layers.isEmpty }
            let listener = try Listener()
            var experiment = try run(
                testOnly,
                .further(["only-listener=\(listener.port)"] + open.map(\.name)),
                omitting: Array(Set(open.flatMap(\.layers))) + [.selfCheck]
            )
            experiment.connections = try listener.close()
            return experiment
        }
    }

    /// What `status --json` says of an experiment of the build that ships.
    func status(of experiment: Experiment) throws -> InstalledBuild.Outcome {
        try shipped.run([
            "status", experiment.directory, "--json", "--state-directory", experiment.state,
        ])
    }

    /// The watching agent, with the build that ships or without the freezing.
    func watching(isFrozen: Bool) throws -> Experiment {
        try isFrozen
            ? run(shipped, .watching)
            : run(testOnly, .watching, omitting: [.freeze, .selfCheck])
    }

    /// What every attack of programs that have a model comes to, with the build that ships.
    func endpoint() throws -> InstalledBuild.Outcome {
        try shipped.run([
            "redteam", "--json", "--family", "endpoint",
            "--state-directory", scratch.path + "/red-team",
        ])
    }

    /// What the red team that ships finds, with the build that ships or without a layer.
    func redTeam(without layer: Layer?, family: String? = nil) throws -> InstalledBuild.Outcome {
        let words =
            ["redteam", "--json", "--quick", "--state-directory", scratch.path + "/red-team"]
            + (family.map { ["--family", $0] } ?? [])
        guard let layer else { return try shipped.run(words, omitting: Layer.allCases) }
        return try testOnly.run(words, omitting: [layer])
    }

    /// An experiment that was prepared with the test-only build, and a way to run commands on it.
    func prepared() throws -> PreparedExperiment {
        try PreparedExperiment(testOnly, in: scratch)
    }

    private func run(
        _ build: InstalledBuild,
        _ agent: InstalledBuild.Agent,
        omitting layers: [Layer] = []
    ) throws -> Experiment {
        try Experiment.run(build, agent, omitting: layers, in: scratch)
    }

    private func once(
        _ name: String,
        _ make: () throws -> Experiment
    ) throws -> Experiment {
        if let known = finished.withLock({ $0[name] }) { return try known.get() }
        let made = Result { try make() }
        finished.withLock { $0[name] = made }
        return try made.get()
    }
}

/// Opens a hall for a suite and removes it, with everything that its experiments left, at the end.
struct HallOpened: SuiteTrait, TestScoping {
    @concurrent func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        let hall = try Hall()
        try await Hall.$current.withValue(hall) { try await function() }
    }
}

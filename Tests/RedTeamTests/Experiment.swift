import HostKernel
import Foundation
import IterationLoop
import Ledger
import LinuxKernel
import Report
import SandboxPlan
import StrictJSON
import Testing

/// One whole experiment that ran to its end, and what it left: files, record, the agent's own words.
struct Experiment: Sendable {
    let directory: String
    let state: String
    let id: String
    let rows: [LedgerEntry]
    let verification: VerificationReport
    /// What the coding agent printed, one JSON object a line.
    let said: [JSONValue]
    /// What the run told whoever watched it.
    let progress: String
    /// How many connections a listener of the host's got meanwhile, where there was one.
    var connections: Int?

    struct Failed: Error, CustomStringConvertible {
        let description: String
    }

    /// Sets an experiment up, prepares it with every layer in place, and runs it.
    static func run(
        _ build: InstalledBuild,
        _ agent: InstalledBuild.Agent,
        omitting layers: [Layer] = [],
        in scratch: Scratch
    ) throws -> Experiment {
        try build.install(agent)
        let place = "\(scratch.path)/\(UUID().uuidString.prefix(8))"
        let (directory, state) = (place + "/experiment", place + "/state")
        let stateOption = ["--state-directory", state]
        let benchmark = Builds.fixtures + "/sums"
        let steps: [(words: [String], layers: [Layer])] = [
            (
                ["init", directory, "--benchmark", benchmark, "--agent", InstalledBuild.profile],
                []
            ),
            (["prepare", directory], []), (["run", directory], layers),
        ]
        var progress = ""
        for step in steps {
            let outcome = try build.run(step.words + stateOption, omitting: step.layers)
            progress = outcome.errors
            guard outcome.status == 0 else {
                throw Failed(
                    description: "\(step.words[0]) ended with \(outcome.status ?? -1): "
                        + outcome.errors
                )
            }
        }
        return try Experiment(directory: directory, state: state, progress: progress)
    }

    private init(directory: String, state: String, progress: String) throws {
        self.progress = progress
        self.directory = directory
        self.state = state
        let experiments = state + "/experiments"
        let found = try FileManager.default.contentsOfDirectory(atPath: experiments)
        id = try #require(found.first)
        let own = "\(experiments)/\(id)"
        let ledger = try LedgerReader.open(at: own + "/ledger.sqlite")
        rows = try ledger.entries()
        verification = try ledger.verify()
        let log = try String(contentsOfFile: own + "/agent.log", encoding: .utf8)
        said = try log.split(separator: "\n").map {
            try JSONValue(parsing: Array($0.utf8), limits: .frame)
        }
    }

    /// The bodies of all rows of a kind.
    func bodies(_ kind: String) -> [JSONValue] {
        rows.filter { $0.kind.rawValue == kind }.map(\.body)
    }

    /// What the agent said of one cheat.
    func line(of cheat: String) throws -> JSONValue {
        try #require(
            said.first { $0["event"] == "cheat" && $0["name"]?.stringValue == cheat },
            "the agent said nothing of \(cheat): \(said)"
        )
    }

    /// Strings in a list of the agent's evidence.
    func evidence(_ cheat: String, _ member: String) throws -> [String] {
        let list = try line(of: cheat)["evidence"]?[member]?.arrayValue ?? []
        return list.compactMap(\.stringValue)
    }

    /// A file of the operator's workspace.
    func workspace(_ name: String) throws -> String {
        try String(contentsOfFile: "\(directory)/workspace/\(name)", encoding: .utf8)
    }

    /// What the record says when it is replayed, as every later run does.
    func replayed() throws -> CampaignState {
        try CampaignState(
            replaying: rows.map { row in
                RecordedRow(
                    sequence: row.sequence,
                    time: Moment(milliseconds: row.time),
                    kind: row.kind.rawValue,
                    body: row.body
                )
            }
        )
    }

    /// The page that a person opens after the run.
    var report: String {
        ReportPage.render(entries: rows, verification: verification, candidateTexts: { _ in nil })
    }

    /// Every text that the supervisor ever kept as a candidate.
    func keptCandidates() throws -> String {
        let outcome = try Spawn.run(
            "/usr/bin/git",
            arguments: [
                "--git-dir=\(state)/experiments/\(id)/repository", "log", "--all", "--patch",
                "--format=",
            ]
        )
        return String(decoding: outcome.output, as: UTF8.self)
    }
}

internal import HostKernel
internal import ArgumentParser
internal import HostProbe
internal import LinuxKernel
internal import RedTeam
internal import SandboxPlan
internal import StrictJSON
internal import Supervisor

/// `redteam`.
struct RedTeamCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "redteam",
        abstract: "Attack the sandboxes of this host, and say which attacks are stopped by what.",
        discussion: """
            Each attack is made twice: on a control that this command makes for it, where it \
            must work, and in a sandbox under the shipped policy, where it must be refused for the \
            stated reason. It is closed, open, n/a (this kernel has no such feature) or broken (the \
            control did not work, so nothing is shown). An ordinary user attacks sandboxes of the \
            level that is reached: what single-uid lacks a wall against is open-at-level, and what \
            a control without root cannot do is unproven.

            Exit codes: 0 nothing is open or broken; 5 an attack got through; 3 an attack is broken, \
            the level is below full or the host failed; 2 usage.
            """
    )

    @Flag(help: "Print the result for programs.")
    var json = false

    @Flag(help: "List the attacks, and make none.")
    var list = false

    @Flag(help: "Print a line for every attack, not only for those that are open or broken.")
    var verbose = false

    @Flag(
        help:
            "Make repeated attacks fewer times; of channels, exam and record only what one layer closes."
    )
    var quick = false

    @Option(help: ArgumentHelp("Write a JUnit report to this file.", valueName: "file"))
    var junit: String?

    @Flag(help: "Print the result as the page RED_TEAM.md.")
    var markdown = false

    @Option(
        help: "Make the attacks of the coding sandbox in another program's too: \(Self.rivals)."
    )
    var against: String?

    @Option(
        parsing: .upToNextOption,
        help: ArgumentHelp("Make only these attacks.", valueName: "id")
    )
    var only: [String] = []

    @Option(help: "Make only the attacks of one family.")
    var family: String?

    @Option(help: "Attack only one sandbox: coding, candidate or examiner.")
    var role: String?

    @OptionGroup var options: PolicyOptions

    func run() throws {
        let chosen = try probes()
        guard !list else { return try Console.write(RedTeamList.text(chosen)) }
        let roles = try role.map { [try Self.role(named: $0)] } ?? [SandboxRole].everywhere
        // Rooms and sandboxes are held open side by side, and a user's usual limit is for too few of them.
        try kernel("raise the limit of open files", "redteam") { () throws(SystemError) in
            try ProcessLimit.openFiles.set(.max)
        }
        let facts = HostFacts.probe(pythonPath: options.python, homes: ["/root"])
        let file = try junitFile()
        let rival = try rival()
        let version = try rival?.version()
        let run = try RedTeamRun(
            chosen,
            roles: rival == nil ? roles : [.coding],
            isQuick: quick,
            rival: rival,
            options: options
        )
        let report = try run.report(kernel: facts.kernelRelease)
        try kernel("write the JUnit report", junit ?? "") { () throws(SystemError) in
            try file?.withDescriptor { file throws(SystemError) in
                try file.writeAll(Array(report.junit.utf8))
            }
        }
        if let rival, let version {
            try show(
                RivalReport(
                    rival: version,
                    command: rival.command(hiding: run.stateDirectory),
                    shown: rival.shown,
                    results: report.results,
                    answers: run.rivalAnswers
                )
            )
        } else {
            try show(report)
        }
        if report.hasOpen { throw ExitCode(ExitStatus.attackSucceeded.rawValue) }
        if report.hasBroken || report.level < .full {
            throw ExitCode(ExitStatus.hostFailed.rawValue)
        }
    }

    private func show(_ report: RedTeamReport) throws(SupervisorError) {
        if json { return try Console.write(report.json) }
        try Console.write(markdown ? report.markdown : report.text(listing: verbose))
    }

    private func show(_ comparison: RivalReport) throws(SupervisorError) {
        try json ? Console.write(comparison.json) : Console.write(comparison.text)
    }

    private static let rivals = RedTeamRival.allCases.map(\.rawValue).joined(separator: ", ")

    private func rival() throws(SupervisorError) -> RedTeamRival? {
        guard let against else { return nil }
        guard let known = RedTeamRival(rawValue: against) else {
            throw Self.unknown("program", against, Self.rivals)
        }
        return known
    }

    // Opened while we are root: afterwards the user's directory may be closed to us.
    private func junitFile() throws(SupervisorError) -> Descriptor?.Box? {
        guard let junit else { return nil }
        return try OutputFile.opened(junit)
    }

    private func probes() throws(SupervisorError) -> [Probe] {
        var kind: ProbeFamily?
        if let family {
            kind = ProbeFamily(rawValue: family)
            guard kind != nil else {
                throw Self.unknown(
                    "family",
                    family,
                    ProbeFamily.allCases.map(\.rawValue).joined(separator: ", ")
                )
            }
        }
        for id in only where !Catalogue.all.contains(where: { $0.id == id }) {
            throw Self.unknown("attack", id, "see `invigilator redteam --list`")
        }
        let wanted = try role.map { name throws(SupervisorError) in try Self.role(named: name) }
        return Catalogue.chosen(ids: only, family: kind, role: wanted)
    }

    private static func role(named name: String) throws(SupervisorError) -> SandboxRole {
        guard let role = [SandboxRole].everywhere.first(where: { $0.label == name }) else {
            throw unknown("sandbox", name, "coding, candidate, examiner")
        }
        return role
    }

    private static func unknown(
        _ kind: String,
        _ name: String,
        _ known: String
    ) -> SupervisorError {
        SupervisorError(
            .usage,
            operation: "choose attacks",
            location: "\(kind) \(SafeText.cleaned(name, atMost: 80))",
            reason: "there is none of this name",
            remedy: "name one of these: \(known)"
        )
    }
}

/// The attacks, as a list for people.
enum RedTeamList {
    static func text(_ probes: [Probe]) -> String {
        var table = TextTable()
        for probe in probes {
            table.add([
                probe.id, probe.severity.rawValue, probe.wall.name,
                probe.places, "\(probe.actor) \(probe.title)",
            ])
        }
        return table.lines(indent: "").joined(separator: "\n")
    }
}

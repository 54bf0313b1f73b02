package import LauncherProtocol
internal import ModelDialects
package import StrictJSON
package import Supervisor
package import Workspace

/// One coding agent and whether its program is there.
package struct AgentEntry {
    fileprivate let profile: CodingAgentProfile
    fileprivate let program: AgentsCache.Outcome
    // Absent for a profile that ships.
    fileprivate let directory: String?

    /// Puts both together.
    package init(
        _ profile: CodingAgentProfile,
        _ program: AgentsCache.Outcome,
        in directory: String? = nil
    ) {
        self.profile = profile
        self.program = program
        self.directory = directory
    }

    init(_ files: ProfileFiles, _ program: AgentsCache.Outcome) {
        let isShipped = files.place == .shipped
        self.init(files.profile, program, in: isShipped ? nil : files.directory)
    }

    fileprivate var executable: String? {
        switch program {
        case .notNeeded: nil
        case .found(let found): found.executable
        case .missing(let program, _, _): program
        }
    }

    fileprivate var members: [String: JSONValue] {
        [
            "agent": .string(profile.name), "title": .string(profile.title),
            "profile_version": JSONValue(profile.version),
            "dialect": profile.dialects.first.map { .string($0.rawValue) } ?? .null,
            "dialects": .array(profile.dialects.map { .string($0.rawValue) }),
            "terminal": .bool(profile.hasTerminal),
            "directory": directory.map { .string($0) } ?? .null,
            "executable": executable.map { .string($0) } ?? .null,
        ]
    }
}

/// What `agent list` prints.
package struct AgentList {
    /// The version of ``json``'s shape.
    package static let schema = "invigilator.agent-list/1"

    private let entries: [AgentEntry]

    /// Lists agents in their order.
    package init(entries: [AgentEntry]) { self.entries = entries }

    /// A line an agent.
    package var text: String {
        var table = TextTable()
        for entry in entries {
            let state =
                switch entry.program {
                case .notNeeded: "ready"
                case .found: "installed"
                case .missing: "missing"
                }
            let place = entry.directory.map { " (\($0))" } ?? ""
            table.add([entry.profile.name, state, entry.profile.title + place])
        }
        var lines = table.lines(indent: "")
        let remedies = entries.compactMap { entry in
            if case .missing(_, _, let remedy) = entry.program { remedy } else { nil }
        }
        if !remedies.isEmpty { lines += ["", "what to do:"] + remedies.map { "  \($0)" } }
        return lines.map { $0 + "\n" }.joined()
    }

    /// The list for programs.
    package var json: JSONValue {
        let agents = entries.map { entry in
            JSONValue.object(
                entry.members.merging(["installed": .bool(!entry.program.isMissing)]) { old, _ in
                    old
                }
            )
        }
        return ["schema": .string(Self.schema), "agents": .array(agents)]
    }
}

/// What `agent check` found.
package struct AgentFindings {
    /// The version of ``json``'s shape.
    package static let schema = "invigilator.agent-check/1"

    private let entry: AgentEntry
    private var checks: [HostCheck] = []
    private var version: String?
    private var started: (digest: String, level: String, exit: SandboxExit)?

    private static let longestLine = 200

    /// Begins with whether the program is there.
    package init(_ entry: AgentEntry) {
        self.entry = entry
        switch entry.program {
        case .notNeeded:
            checks.append(HostCheck("program", .good, "the profile needs none of its own"))
        case .found(let found):
            checks.append(HostCheck("program", .good, found.executable))
        case .missing(let program, let reason, let remedy):
            checks.append(HostCheck("program", .gap(cure: remedy), "\(program): \(reason)"))
        }
    }

    /// Whether it starts, and nothing is missing.
    package var isUsable: Bool { started != nil && checks.allSatisfy { $0.state == .good } }

    /// Adds the paths of the host that the profile wants to read.
    package mutating func add(paths: [String], missing: [String]) {
        let cure = "install what they belong to, or take them out of the profile's reads"
        checks.append(
            missing.isEmpty
                ? HostCheck("paths", .good, paths.isEmpty ? "none" : paths.joined(separator: ", "))
                : HostCheck(
                    "paths",
                    .gap(cure: cure),
                    "not on this host: " + missing.joined(separator: ", ")
                )
        )
    }

    /// Adds how the start of the program ended.
    package mutating func add(
        start exit: SandboxExit,
        said: [UInt8],
        command: [String],
        digest: String,
        level: String
    ) {
        started = (digest, level, exit)
        let lines = Self.lines(of: said)
        guard exit.kind == .exited, exit.code == 0 else {
            let end = exit.code.map { "code \($0)" } ?? exit.signal.map { "signal \($0)" } ?? "none"
            let last = lines.last.map { ": \($0)" } ?? ""
            checks.append(
                HostCheck(
                    "start",
                    .gap(cure: cure(exit)),
                    "\(command.joined(separator: " ")) ended as \(exit.kind.name), \(end)\(last)"
                )
            )
            return
        }
        version = lines.first
        checks.append(HostCheck("start", .good, lines.first ?? "it said nothing"))
    }

    private func cure(_ exit: SandboxExit) -> String {
        switch exit.kind {
        case .outOfMemory: "raise limits.memory of the policy coding-agent"
        case .processes: "raise limits.processes of the policy coding-agent"
        case .violation: "compare its calls with `invigilator policy explain coding-agent`"
        case .wallClock, .cpuTime, .idle: "run it again when the host is less busy"
        case .exited, .signalled, .output, .setup:
            "install it anew: remove its folder and run scripts/agents \(entry.profile.name)"
        }
    }

    // What the program says is its own: shown without control characters, and cut.
    private static func lines(of said: [UInt8]) -> [String] {
        said.split { $0 == 0x0A || $0 == 0x0D }.map { line in
            let printable = line.prefix(longestLine).map { (0x20..<0x7F).contains($0) ? $0 : 0x3F }
            return String(decoding: printable, as: UTF8.self)
        }.filter { line in line.contains { $0 != " " } }
    }

    /// A line a check, then the cures.
    package var text: String {
        var table = TextTable()
        var cures: [String] = []
        for check in checks {
            table.add([check.state == .good ? "ok" : "GAP", check.name, check.found])
            if case .gap(let cure) = check.state { cures.append("  \(check.name): \(cure)") }
        }
        var lines = table.lines(indent: "")
        if !cures.isEmpty { lines += ["", "what to do:"] + cures }
        return lines.map { $0 + "\n" }.joined()
    }

    /// The findings for programs.
    package var json: JSONValue {
        let checks = self.checks.map { check -> JSONValue in
            let cure: JSONValue =
                if case .gap(let cure) = check.state { .string(cure) } else { .null }
            return [
                "name": .string(check.name), "state": check.state == .good ? "ok" : "gap",
                "found": .string(check.found), "cure": cure,
            ]
        }
        var members = entry.members
        members["schema"] = .string(Self.schema)
        members["usable"] = .bool(isUsable)
        members["program_version"] = version.map { .string($0) } ?? .null
        members["checks"] = .array(checks)
        members["plan_digest"] = started.map { .string($0.digest) } ?? .null
        members["level"] = started.map { .string($0.level) } ?? .null
        members["exit"] =
            started.map { started in
                [
                    "kind": .string(started.exit.kind.name),
                    "code": started.exit.code.map { .integer(Int64($0)) } ?? .null,
                    "signal": started.exit.signal.map { .integer(Int64($0)) } ?? .null,
                ]
            } ?? .null
        return .object(members)
    }
}

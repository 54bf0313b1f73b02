// One run of the red team: controls and victims as root, then the supervisor's user, then the sandboxes.

internal import HostKernel
internal import HostProbe
internal import LauncherProtocol
internal import LinuxKernel
internal import RedTeam
internal import SandboxPlan
internal import Supervisor

/// Performs attacks and judges them.
final class RedTeamRun {
    let probes: [Probe]
    private let roles: [SandboxRole]
    private let layout: StateLayout
    private let installation: Installation
    private let python: PythonInterpreter
    private let vault: RedTeamVault
    private let plans: [SandboxPlan]
    let stage: RedTeamStage
    /// What the attacks met with in another sandbox, where one was named.
    private(set) var rivalAnswers: [String: Answer] = [:]
    private let rival: RedTeamRival?
    /// The state directory, which a sandbox of another program is told to hide.
    var stateDirectory: String { layout.root }
    var controlAnswers: [String: Answer] = [:]
    var insideAnswers: [SandboxRole: [String: Answer]] = [:]
    private var recordAnswers: [String: Answer] = [:]
    private let launches: Int
    private let pairs: RedTeamPairs
    private var pairControls: [String: PairMeasurement] = [:]
    private var pairResults: [ProbeResult] = []
    private let examinerPlan: SandboxPlan?
    let endpoint: RedTeamEndpoint?

    // Short, because a run waits for it; long enough for a loaded host to start a program.
    private static let wall = Milliseconds(500)

    /// Prepares a run, as root.
    init(
        _ probes: [Probe],
        roles: [SandboxRole],
        isQuick: Bool,
        rival: RedTeamRival?,
        options: PolicyOptions
    ) throws(SupervisorError) {
        // A channel has two ends: a run that attacks one sandbox alone has none.
        let hasPairs = roles.contains(.coding) && roles.contains(.candidate)
        self.probes = probes.filter { probe in
            let isPossible: Bool
            switch probe.launch {
            case .shared, .alone, .race: return true
            case .pair: isPossible = hasPairs
            case .exam: isPossible = roles.contains(.candidate)
            case .record, .endpoint, .request: isPossible = rival == nil
            }
            return isPossible && (!isQuick || probe.wall.layer != nil)
        }
        guard !self.probes.isEmpty else {
            throw SupervisorError(
                .usage,
                operation: "choose attacks",
                location: "options",
                reason: "none is left",
                remedy: "name less; channels need coding and candidate sandbox, and no --quick"
            )
        }
        self.rival = rival
        launches = isQuick ? 50 : 1000
        pairs = try RedTeamPairs()
        self.roles = roles
        layout = options.state.layout()
        installation = try Installation.find()
        do throws(HostProbeError) {
            python = try PythonSearch.find(named: options.python, homes: ["/root"])
        } catch {
            throw SupervisorError(.hostFailed, error)
        }
        try layout.create()
        vault = try RedTeamVault(in: layout)
        let source = PolicySource(directory: try options.policyDirectory(), layout: layout)
        var resolved: [SandboxPlan] = []
        for role in roles {
            resolved.append(
                try source.plan(
                    role == .coding ? "coding-agent" : role.label,
                    pythonPrefix: python.sandboxPrefix,
                    vaultSplit: role == .examiner ? vault.train : nil
                )
            )
        }
        plans = resolved.map(Self.demandingLess)
        examinerPlan =
            self.probes.contains { $0.launch == .exam }
            ? Self.demandingLess(
                try source.plan(
                    SandboxRole.examiner.label,
                    pythonPrefix: python.sandboxPrefix,
                    vaultSplit: vault.train
                )
            ) : nil
        endpoint =
            Self.endpointProbes(self.probes).isEmpty
            ? nil
            : try RedTeamEndpoint(
                roles,
                split: vault.train,
                python: python,
                installation: installation,
                options: options
            )
        stage = try RedTeamStage(program: Self.probeProgram(installation))
    }

    static func probeProgram(_ installation: Installation) -> String {
        installation.launcher.split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" }
            + "/\(RedTeamRoom.probeName)"
    }

    /// Makes every attack and judges it.
    func report(kernel: String) throws(SupervisorError) -> RedTeamReport {
        let program: [UInt8]
        let image: Image
        do throws(SupervisorError) {
            program = try programBytes()
            image = try SandboxSite.buildImage(of: python, layout)
            try performControls()
            try attackRival()
            try endpoint?.startModel()
            try stage.startVictims()
        } catch {
            stage.discard()
            try vault.remove()
            throw error
        }
        let honest: [RedTeamReport.HonestResult]
        do throws(SupervisorError) {
            honest = try attackSandboxes(program, image)
        } catch {
            try stage.close()
            try vault.remove()
            throw error
        }
        try stage.close()
        try endpoint?.close()
        try vault.remove()
        let level = Self.level ?? .full
        return RedTeamReport(results: results, honest: honest, kernel: kernel, level: level)
    }

    private func attackSandboxes(
        _ program: [UInt8],
        _ image: Image
    ) throws(SupervisorError) -> [RedTeamReport.HonestResult] {
        let site = try SandboxSite(layout: layout, installation: installation, image: image)
        try vault.fill()
        var rooms: [RedTeamRoom] = []
        for plan in plans {
            let own =
                plan.role == .coding ? "\(python.sandboxPrefix)/bin/python3" : "/usr/bin/python3"
            rooms.append(try RedTeamRoom(plan, probe: program, python: own, on: site))
        }
        try attack(rooms, site)
        try attackExam(rooms, site)
        try attackEndpoint(program, site)
        try attackRecord()
        let honest = try honest(rooms, site)
        try site.close()
        return honest
    }

    private func programBytes() throws(SupervisorError) -> [UInt8] {
        let path = Self.probeProgram(installation)
        do throws(SystemError) {
            return try Descriptor.open(path, .read).readAll(limit: 32 << 20)
        } catch {
            throw SupervisorError(
                .hostFailed,
                operation: "read the attacks' program",
                location: path,
                reason: "\(error)",
                remedy: "install all programs of one build side by side"
            )
        }
    }

    // MARK: - controls

    private var shared: [Probe] { probes.filter { $0.launch == .shared } }

    private func performControls() throws(SupervisorError) {
        let races = probes.filter { $0.launch == .race }
        controlAnswers = try stage.control((shared + races).flatMap(\.words))
        try performPairControls()
        try performEndpointControls()
        var done: [Load: Answer] = [:]
        for probe in probes {
            guard case .alone(let load) = probe.launch else { continue }
            if done[load] == nil {
                done[load] = try stage.control(load, Self.amountOnControl(of: load))
            }
            for word in probe.words { controlAnswers[word] = done[load] }
        }
    }

    private func performPairControls() throws(SupervisorError) {
        let channels = probes.compactMap(\.channel)
        if !channels.isEmpty { try stage.makePages() }
        for channel in channels {
            pairControls[channel.name] = try pairs.control(channel, stage)
        }
    }

    // As much as the largest sandbox that is attacked so, and bounded.
    private static func amountOnControl(of load: Load) -> Int {
        switch load {
        case .eat: 1088
        case .print: 5
        case .takeObjects: 1000
        case .swallowSignals, .stopItself, .leaveDaemon: 300
        }
    }

    // MARK: - sandboxes

    private func attack(
        _ rooms: [RedTeamRoom],
        _ site: SandboxSite
    ) throws(SupervisorError) {
        let settings = attackSettings(of: stage)
        for room in rooms {
            let words = shared.filter { $0.roles.contains(room.role) }.flatMap(\.words)
            var answers: [String: Answer] = [:]
            for start in stride(from: 0, to: words.count, by: RedTeamRoom.wordsALaunch) {
                let part = Array(words[start...].prefix(RedTeamRoom.wordsALaunch))
                let guest = try room.attack(part, settings)
                try wait(for: [guest], site)
                answers.merge(ProbeOutput(guest.output).answers) { _, new in new }
            }
            insideAnswers[room.role] = answers
        }
        try attackAlone(rooms, site)
        try race(rooms, settings, site)
        try attackInPairs(rooms, site)
    }

    func attackSettings(of stage: RedTeamStage) -> [String: String] {
        var settings = stage.settings
        settings["state-dir"] = layout.root
        // Without its network namespace a guest is on the host's network: nothing of ours leaves it.
        let isOutside = Layer.network.isOmitted
        settings["metadata-address"] = isOutside ? "127.0.0.1" : "169.254.169.254"
        settings["metadata-port"] = isOutside ? settings["tcp-port"] : "80"
        settings["resolver-address"] = isOutside ? "127.0.0.1" : "192.0.2.53"
        return settings
    }

    // With victims of its own: what an attack did to them there would change what it meets here.
    private func attackRival() throws(SupervisorError) {
        guard let rival, let plan = plans.first(where: { $0.role == .coding }) else { return }
        let stage = try RedTeamStage(program: Self.probeProgram(installation))
        do throws(SupervisorError) { try stage.startVictims() } catch {
            stage.discard()
            throw error
        }
        do throws(SupervisorError) {
            rivalAnswers = try rival.answers(
                shared.filter { $0.roles.contains(.coding) }.flatMap(\.words),
                probe: Self.probeProgram(installation),
                settings: RedTeamRoom.settings(attackSettings(of: stage), in: plan)
            )
        } catch {
            try stage.close()
            throw error
        }
        try stage.close()
    }

    // Needs both roles: a run that attacks one sandbox alone has no pairs.
    private func attackInPairs(
        _ rooms: [RedTeamRoom],
        _ site: SandboxSite
    ) throws(SupervisorError) {
        guard let sender = rooms.first(where: { $0.role == .candidate }),
            let receiver = rooms.first(where: { $0.role == .coding })
        else { return }
        for probe in probes {
            guard let channel = probe.channel, let control = pairControls[channel.name] else {
                continue
            }
            if channel.name == PairProbes.presentNames {
                for room in [sender, receiver] { try room.placeNames() }
            }
            let inside = try pairs.inside(channel, from: sender, to: receiver) {
                guest,
                condition throws(SupervisorError) in
                try wait(for: [guest], site, orUntil: condition)
            }
            pairResults.append(ProbeResult(pair: probe, control: control, inside: inside))
        }
    }

    // The victims swap the source all the time; a launch that is refused shows nothing to anybody.
    private func race(
        _ rooms: [RedTeamRoom],
        _ settings: [String: String],
        _ site: SandboxSite
    ) throws(SupervisorError) {
        for probe in probes where probe.launch == .race {
            for room in rooms where probe.roles.contains(room.role) {
                var seen: [Answer] = []
                for _ in 0..<launches {
                    guard let guest = try room.race(probe.word, settings) else { continue }
                    try wait(for: [guest], site)
                    seen += ProbeOutput(guest.output).answers.values
                }
                let answer: Answer =
                    seen.contains(.works)
                    ? .works : seen.first { $0 != .absent } ?? seen.first ?? .broken("no launch")
                for word in probe.words { insideAnswers[room.role]?[word] = answer }
            }
        }
    }

    // Side by side: each waits for its own end.
    private func attackAlone(
        _ rooms: [RedTeamRoom],
        _ site: SandboxSite
    ) throws(SupervisorError) {
        var running: [(probe: Probe, room: RedTeamRoom, guest: RedTeamRoom.Guest)] = []
        for probe in probes {
            guard case .alone(let load) = probe.launch else { continue }
            let wall = probe.family == .timeouts ? Self.wall : nil
            for room in rooms where probe.roles.contains(room.role) {
                running.append((probe, room, try room.attack(load, wall: wall)))
            }
        }
        try wait(for: running.map(\.guest), site)
        for (probe, room, guest) in running {
            for word in probe.words {
                insideAnswers[room.role, default: [:]][word] = Self.answer(of: guest)
            }
        }
    }

    private func attackExam(
        _ rooms: [RedTeamRoom],
        _ site: SandboxSite
    ) throws(SupervisorError) {
        let words = probes.filter { $0.launch == .exam }.flatMap(\.words)
        guard let examinerPlan, !words.isEmpty,
            let room = rooms.first(where: { $0.role == .candidate })
        else { return }
        let exam = try RedTeamExam(
            on: site,
            installation,
            candidate: room.plan,
            examiner: examinerPlan
        )
        let control = try exam.control(words, in: room)
        try wait(for: [control], site)
        controlAnswers.merge(ProbeOutput(control.output).answers) { _, new in new }
        insideAnswers[.candidate, default: [:]].merge(try exam.answers(words)) { _, new in new }
    }

    private func attackRecord() throws(SupervisorError) {
        let attacks = probes.filter { $0.launch == .record }
        guard !attacks.isEmpty else { return }
        do {
            let findings = try RedTeamRecord(in: vault.record).findings(of: attacks)
            controlAnswers.merge(findings.mapValues(\.control)) { _, new in new }
            recordAnswers = findings.mapValues(\.inside)
        } catch { throw SupervisorError(.hostFailed, error) }
    }

    private static func answer(of guest: RedTeamRoom.Guest) -> Answer {
        guard let exit = guest.exit else { return .broken("no exit") }
        if guest.output.ends(with: "survived\n") { return .works }
        guard exit.code != 77 else { return .broken("it did not start") }
        return .ended(exit.isTruncated ? "truncated" : exit.kind.name)
    }

    private var results: [ProbeResult] {
        probes.filter { $0.channel == nil }.flatMap { probe in
            roles.filter { probe.roles.contains($0) }.map { role in
                ProbeResult(
                    probe,
                    in: role,
                    control: controlAnswers,
                    inside: insideAnswers[role] ?? [:]
                )
            }
        } + pairResults
            + probes.filter { $0.launch == .record }.map { probe in
                ProbeResult(probe, in: nil, control: controlAnswers, inside: recordAnswers)
            }
    }
}

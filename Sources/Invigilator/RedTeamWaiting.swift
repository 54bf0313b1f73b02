internal import LauncherProtocol
internal import LinuxKernel
internal import RedTeam
internal import Supervisor

// What a run of the red team does besides attacking: it waits, and lets an honest program work.

extension RedTeamRun {
    func honest(
        _ rooms: [RedTeamRoom],
        _ site: SandboxSite
    ) throws(SupervisorError) -> [RedTeamReport.HonestResult] {
        var found: [RedTeamReport.HonestResult] = []
        for room in rooms {
            let guest = try room.honest()
            try wait(for: [guest], site)
            let said = String(decoding: guest.output, as: UTF8.self)
            let end = guest.exit.map { "\($0.kind.name) \($0.code ?? -1)" } ?? "no exit"
            let problem =
                said == HonestProgram.good
                ? nil : "it ended as \(end) and said \(SafeText.cleaned(said, atMost: 200))"
            found.append(RedTeamReport.HonestResult(role: room.role, problem: problem))
        }
        return found
    }

    func wait(
        for guests: [RedTeamRoom.Guest],
        _ site: SandboxSite,
        orUntil condition: () -> Bool = { false }
    ) throws(SupervisorError) {
        try kernel("wait for attacks", "event loop") { () throws(SystemError) in
            try site.loop.run(until: { site.isLost || condition() || guests.allSatisfy(\.isOver) })
        }
        guard !site.isLost else {
            throw SupervisorError(
                .hostFailed,
                operation: "attack a sandbox",
                location: "launcher",
                reason: "it ended",
                remedy: "look at its last words above; report this if an attack ended it"
            )
        }
    }
}

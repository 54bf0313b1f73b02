// Channels between two sandboxes: a sender in a candidate's, then a receiver in the coding agent's. On the
// control both ends are one process after the other.

internal import HostKernel
internal import LinuxKernel
internal import RedTeam
internal import SandboxPlan
internal import Supervisor

/// Measures channels.
final class RedTeamPairs {
    private let seeds: [UInt64]
    private let word: String
    private var attempts = 0

    /// Draws messages; a counter's first round sends nothing, to see what it does by itself.
    init() throws(SupervisorError) {
        let rounds = 9
        let bytes = try kernel("draw messages", "random bytes") { () throws(SystemError) in
            try KernelRandom.bytes(8 * rounds + 8)
        }
        var drawn = stride(from: 0, to: 8 * rounds, by: 8).map { start in
            bytes[start..<(start + 8)].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        }
        drawn[0] &= ~15
        // Each value is followed by its complement, so that whoever reads nothing is wrong in half of the
        // bits exactly.
        for index in stride(from: 2, to: rounds, by: 2) { drawn[index] = ~drawn[index - 1] }
        seeds = drawn
        word = "pair-" + bytes.suffix(8).map { String($0, radix: 16) }.joined()
    }

    /// What both ends of a channel are told.
    private var settings: [String: String] { ["run": word] }

    private func seeds(of channel: PairChannel) -> [UInt64] {
        channel.step == nil ? Array(seeds.prefix(1)) : seeds
    }

    private func unreadable(_ channel: PairChannel) -> PairMeasurement {
        let count = seeds(of: channel).count
        return .unreadable(
            bits: channel.step == nil
                ? PairChannel.bitsAtOnce : PairChannel.bitsARound * (count - 1)
        )
    }

    /// What the receiver understands on the control, at the third attempt at the latest: caches are read
    /// by time, and a loaded host disturbs that.
    func control(
        _ channel: PairChannel,
        _ stage: RedTeamStage
    ) throws(SupervisorError) -> PairMeasurement {
        var measurement = try attempt(channel, stage)
        for _ in 0..<2 where !measurement.isUnderstood {
            measurement = try attempt(channel, stage)
        }
        return measurement
    }

    private func attempt(
        _ channel: PairChannel,
        _ stage: RedTeamStage
    ) throws(SupervisorError) -> PairMeasurement {
        let own = seeds(of: channel)
        attempts += 1  // names that were looked up once are known
        let output = ProbeOutput(
            try stage.controlPair(
                [
                    "pair=1", "run=control-\(word)-\(attempts)", channel.isLive ? "beside" : "both",
                    channel.name,
                ]
                    + own.map { "\($0)" }
            )
        )
        guard let step = channel.step else {
            return output.received.map { PairMeasurement(received: $0, seed: own[0]) }
                ?? unreadable(channel)
        }
        guard output.numbers.count == own.count * 2 else { return unreadable(channel) }
        let differences = own.indices.map { output.numbers[$0 * 2 + 1] - output.numbers[$0 * 2] }
        return PairMeasurement(differences: differences, seeds: own, step: step)
    }

    /// What the receiver understands in the coding sandbox.
    func inside(
        _ channel: PairChannel,
        from sender: RedTeamRoom,
        to receiver: RedTeamRoom,
        wait: (RedTeamRoom.Guest, () -> Bool) throws(SupervisorError) -> Void
    ) throws(SupervisorError) -> PairMeasurement {
        func end(
            _ room: RedTeamRoom,
            _ words: [String]
        ) throws(SupervisorError) -> ProbeOutput {
            let guest = try room.pair(words, settings)
            try wait(guest, { false })
            return ProbeOutput(guest.output)
        }
        let own = seeds(of: channel)
        if channel.isLive {
            let guest = try receiver.pair(["receive", channel.name], settings)
            try wait(guest, { guest.output.ends(with: "ready\n") })
            try guest.freeze()
            _ = try end(sender, ["send", channel.name, "\(own[0])"])
            try guest.thaw()
            try wait(guest, { false })
            return ProbeOutput(guest.output).received.map {
                PairMeasurement(received: $0, seed: own[0])
            } ?? unreadable(channel)
        }
        guard let step = channel.step else {
            _ = try end(sender, ["send", channel.name, "\(own[0])"])
            let output = try end(receiver, ["receive", channel.name])
            guard output.isComplete else { return unreadable(channel) }
            return output.received.map { PairMeasurement(received: $0, seed: own[0]) }
                ?? unreadable(channel)
        }
        var differences: [Int] = []
        for seed in own {
            let before = try end(receiver, ["read", channel.name])
            let cover = try SealedCover(of: sender.plan)
            _ = try end(sender, ["send", channel.name, "\(seed)"])
            try cover.finish()
            let after = try end(receiver, ["read", channel.name])
            guard let first = before.numbers.first, let second = after.numbers.first else {
                return unreadable(channel)
            }
            differences.append(second - first)
        }
        return PairMeasurement(differences: differences, seeds: own, step: step)
    }
}

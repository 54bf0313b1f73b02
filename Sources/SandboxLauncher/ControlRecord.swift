internal import LauncherProtocol
internal import LinuxKernel
internal import SandboxPlan

/// What init tells the launcher over their private socket.
enum ControlRecord {
    /// The payload's program runs; a terminal's master comes with it where there is one.
    case running([StepTime])
    /// A step failed; nothing runs.
    case failed(LaunchFailure)
    /// The payload ended.
    case ended(ProcessEnd)
    /// Calls were refused: the encoded table of them, so far.
    case denied([UInt8])

    var bytes: [UInt8] {
        var encoder = WireEncoder()
        switch self {
        case .running(let steps):
            encoder.write(UInt8(1))
            encoder.write(steps)
        case .failed(let failure):
            encoder.write(UInt8(2))
            encoder.write(failure)
        case .ended(let end):
            encoder.write(UInt8(3))
            encoder.write(end.pid)
            encoder.write(end.status)
            let used = [end.userMicroseconds, end.systemMicroseconds, end.peakResidentKiB]
            for count in used { encoder.write(count) }
        case .denied(let table):
            encoder.write(UInt8(4))
            encoder.write(table)
        }
        return encoder.bytes
    }

    /// The record that bytes hold; nil for none.
    ///
    /// Both ends are one program, so there is no more to say of bytes that hold none.
    static func read(_ bytes: [UInt8]) -> ControlRecord? {
        do throws(PlanError) { return try ControlRecord(bytes: bytes) } catch { return nil }
    }

    private init(bytes: [UInt8]) throws(PlanError) {
        var decoder = WireDecoder(bytes)
        switch try decoder.integer("record") as UInt8 {
        case 1: self = .running(try decoder.steps())
        case 2: self = .failed(try LaunchFailure(from: &decoder))
        case 3:
            self = .ended(
                ProcessEnd(
                    pid: try decoder.integer("pid"),
                    status: try decoder.integer("status"),
                    userMicroseconds: try decoder.integer("user"),
                    systemMicroseconds: try decoder.integer("system"),
                    peakResidentKiB: try decoder.integer("resident")
                )
            )
        case 4: self = .denied(try decoder.counted("denials"))
        case let other: throw decoder.malformed("record", "\(other) names nothing")
        }
        try decoder.finish()
    }
}

/// Measures each step from the end of the one before.
struct StepClock {
    private(set) var times: [StepTime] = []
    private var last = MonotonicTime.now

    mutating func finish(_ step: SetupStep) {
        let now = MonotonicTime.now
        let spent = UInt32(clamping: now.since(last).count / 1000)
        times.append(StepTime(step: step, microseconds: spent))
        last = now
    }
}

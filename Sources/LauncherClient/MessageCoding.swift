// The supervisor's halves of M1: requests are written here and replies read, as the launcher reads and
// writes them in LauncherProtocol.

public import LauncherProtocol
public import SandboxPlan

extension LauncherRequest {
    /// The message's bytes.
    public var bytes: [UInt8] {
        var encoder = WireEncoder()
        switch self {
        case .makeTree(let id, let size, let inodes):
            encoder.write(UInt8(1))
            encoder.write(id)
            encoder.write(size.bytes)
            encoder.write(inodes)
        case .dropTree(let id): encoder.write(verb: 2, id)
        case .launch(let request):
            encoder.write(verb: 3, request.id)
            encoder.write(request.plan.digest.bytes)
            encoder.write(request.plan.bytes)
            encoder.write(request.trees) { $0.write($1) }
            encoder.write(request.command) { $0.write($1) }
            encoder.write(request.window)
        case .freeze(let id): encoder.write(verb: 4, id)
        case .thaw(let id): encoder.write(verb: 5, id)
        case .kill(let id): encoder.write(verb: 6, id)
        case .resize(let id, let window):
            encoder.write(verb: 7, id)
            encoder.write(window)
        }
        return encoder.bytes
    }
}

extension WireEncoder {
    fileprivate mutating func write(_ window: WindowSize) {
        write(window.rows)
        write(window.columns)
    }
}

extension LauncherReply {
    /// Decodes a message.
    ///
    /// - Throws: `PlanError` when it is malformed.
    public init(bytes: [UInt8]) throws(PlanError) {
        var decoder = WireDecoder(bytes)
        let verb: UInt8 = try decoder.integer("verb")
        let id: UInt32 = try decoder.integer("id")
        switch verb {
        case 1:
            self = .ready(hasLayerSwitches: try decoder.bool("switches"))
        case 2: self = .treeMade(id: id)
        case 3:
            let user: UInt32 = try decoder.integer("user")
            self = .launched(id: id, user: user, steps: try decoder.steps())
        case 4: self = .done(id: id)
        case 5: self = .refused(id: id, try LaunchFailure(from: &decoder))
        case 6: self = .exited(id: id, try SandboxExit(from: &decoder))
        case 7: self = .ended(id: id)
        case 8: self = .denied(id: id, try decoder.counted("denials"))
        default: throw decoder.malformed("verb", "\(verb) names nothing")
        }
        try decoder.finish()
    }
}

extension SandboxExit {
    fileprivate init(from decoder: inout WireDecoder) throws(PlanError) {
        self.init(kind: try decoder.word("kind"))
        code = try decoder.optional("code") { input throws(PlanError) in
            try input.integer("code")
        }
        signal = try decoder.optional("signal") { input throws(PlanError) in
            try input.integer("signal")
        }
        wasRequested = try decoder.bool("requested")
        isTruncated = try decoder.bool("truncated")
        cpuMicroseconds = try decoder.integer("cpu")
        userMicroseconds = try decoder.integer("user")
        systemMicroseconds = try decoder.integer("system")
        peakResidentKiB = try decoder.integer("resident")
        wallMicroseconds = try decoder.integer("wall")
        outputBytes = try decoder.integer("output")
        memoryKills = try decoder.integer("memory kills")
        refusedProcesses = try decoder.integer("refused processes")
    }
}

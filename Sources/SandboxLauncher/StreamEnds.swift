internal import LinuxKernel
internal import SandboxPlan

/// Three pipes between a payload and the launcher, or nothing where a terminal is made inside.
struct StreamEnds {
    /// The payload's ends: input, output, errors.
    private(set) var inside: [Held] = []
    /// The launcher's ends, non-blocking.
    private(set) var outside: Sandbox.Streams?

    init(_ mode: StreamMode) throws(SystemError) {
        guard mode == .pipes else { return }
        let (input, output, errors) = (
            try SharedPair.pipe(), try SharedPair.pipe(), try SharedPair.pipe()
        )
        inside = [input.first, output.second, errors.second]
        let ours = Sandbox.Streams(
            input: input.second,
            output: output.first,
            errors: errors.first,
            isTerminal: false
        )
        for held in [ours.input, ours.output, errors.first] {
            try held.descriptor.setNonBlocking(true)
        }
        outside = ours
    }
}

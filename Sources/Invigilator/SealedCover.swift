internal import HostKernel
internal import LinuxKernel
internal import SandboxPlan
internal import Supervisor

/// What the supervisor does around a sealed exam of one rollout, for a single sandbox: the host's counters
/// are moved on afterwards, so that what the sandbox took of them says little.
struct SealedCover {
    private let noise: CounterNoise

    // What a configuration that says nothing gives the counters of one exam.
    private static let counterBits = 0.1

    /// Prepares it, before the sandbox starts.
    ///
    /// - Parameter plan: the sandbox's plan, which says how many numbers it can take.
    /// - Throws: ``SupervisorError`` where the host's counters cannot be moved.
    init(of plan: SandboxPlan) throws(SupervisorError) {
        let objects = plan.limits.objects
        noise = try kernel("hide what is written into the host's counters", plan.name) {
            () throws(SystemError) in
            try CounterNoise(
                CounterNoise.Writable(
                    inodes: UInt64(objects),
                    sharedMemory: UInt64(CountedCalls.memoryShare(of: objects))
                ),
                bits: Self.counterBits
            )
        }
    }

    /// Moves the counters on, when the sandbox is gone.
    ///
    /// - Throws: ``SupervisorError``.
    func finish() throws(SupervisorError) {
        try kernel("move the host's counters on", "after a sandbox") { () throws(SystemError) in
            let loop = EventLoop()
            var moving = try noise.moving()
            while let pause = try moving.next() { try loop.turn(atMost: pause) }
        }
    }
}

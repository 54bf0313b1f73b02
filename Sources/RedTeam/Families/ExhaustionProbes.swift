internal import SandboxPlan

/// Attacks by use.
enum ExhaustionProbes {
    static let all: [Probe] = [
        Probe(
            "exhaustion.processes",
            "makes more processes than it may",
            threat: "the host or another sandbox cannot start anything",
            .layer(.limits),
            .high,
            .everywhere,
            .refused("EAGAIN")
        ),
        Probe(
            "exhaustion.threads",
            "makes more threads than it may",
            threat: "the host or another sandbox cannot start anything",
            .layer(.limits),
            .high,
            .everywhere,
            .refused("EAGAIN")
        ),
        Probe(
            "exhaustion.memory",
            "takes more memory than it may",
            threat: "the host kills what it finds, the supervisor perhaps",
            .layer(.limits),
            .high,
            .exam,
            .ended("oom"),
            launch: .alone(.eat)
        ),
        Probe(
            "exhaustion.disk",
            "fills its scratch space",
            threat: "the host's disk or memory is full",
            .named("a size for each tmpfs"),
            .medium,
            .everywhere,
            .refused("ENOSPC")
        ),
        Probe(
            "exhaustion.inodes",
            "makes more files than it may",
            threat: "the kernel's memory is full of names",
            .named("a number of inodes for each tmpfs"),
            .medium,
            .exam,
            .refused("ENOSPC")
        ),
        Probe(
            "exhaustion.descriptors",
            "opens more descriptors than it may",
            threat: "the host's table of files is full",
            .named("a limit of open files"),
            .medium,
            .everywhere,
            .refused("EMFILE")
        ),
        Probe(
            "exhaustion.signals",
            "has more signals wait than it may",
            threat: "a guest that stands still keeps a count of what happened meanwhile",
            .layer(.limits),
            .medium,
            .everywhere,
            .refused("EAGAIN")
        ),
        Probe(
            "exhaustion.raise-limit",
            "raises its limit of open files",
            threat: "limits are what keeps it from the host's",
            .named("hard limits"),
            .medium,
            .everywhere,
            .refused("EPERM")
        ),
        Probe(
            "exhaustion.long-file",
            "makes a file longer than it may",
            threat: "whoever reads it later runs out of memory",
            .named("a limit of file size"),
            .low,
            .everywhere,
            .refused("EFBIG")
        ),
        Probe(
            "exhaustion.objects",
            "makes more pipes, sockets and shared memory than it may",
            threat: "their numbers come from counters of the host, which a later sandbox reads",
            .layer(.objects, with: .filter),
            .high,
            .exam,
            .ended("exited"),
            launch: .alone(.takeObjects)
        ),
        Probe(
            "exhaustion.output",
            "prints more than is kept",
            threat: "evidence is pushed out of the logs, or the disk is full",
            .named("a cap on output, counted past it"),
            .medium,
            .exam,
            .ended("truncated"),
            launch: .alone(.print)
        ),
    ]
}

/// Attacks by outliving one's time.
///
/// The wall clock is shortened for them; nothing else of the plan is.
enum TimeoutProbes {
    static let all: [Probe] = [
        Probe(
            "timeouts.swallow-signals",
            "ignores every signal and stays",
            threat: "an exam that does not end",
            .named("wall clock and SIGKILL from outside"),
            .high,
            .everywhere,
            .ended("wall"),
            launch: .alone(.swallowSignals)
        ),
        Probe(
            "timeouts.stop-itself",
            "stops itself and stays",
            threat: "time that is not spent is not counted",
            .named("wall clock and SIGKILL from outside"),
            .high,
            .everywhere,
            .ended("wall"),
            launch: .alone(.stopItself)
        ),
        Probe(
            "timeouts.leave-daemon",
            "leaves a process behind",
            threat: "something goes on in the next exam",
            .named("process namespace and control group"),
            .critical,
            .everywhere,
            .ended("exited"),
            launch: .alone(.leaveDaemon)
        ),
    ]
}

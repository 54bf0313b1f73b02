internal import ArgumentParser
internal import HostProbe
internal import LauncherClient
internal import LauncherProtocol
internal import LinuxKernel
internal import SandboxPlan
internal import StrictJSON
internal import Supervisor

/// `sandbox repeat`: launches one command many times from one resident launcher.
struct SandboxRepeatCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "repeat",
        abstract: "Launch one command many times under a policy and print the median times.",
        discussion: """
            For measuring a host: one resident launcher, one root, one fresh sandbox a launch, each \
            waited for until its program has ended. What is left of one is removed while the next is \
            launched, and at the end every one is waited for until it is gone. Needs root.

            With --kill each is killed as soon as it prints something, and the time of that is \
            printed, from the request until every process of it is gone.
            """
    )

    @Option(help: "The policy's name.")
    var policy = "candidate"
    @Option(help: "How many launches.")
    var count = 100
    @Option(help: "Milliseconds between the end of one and the launch of the next.")
    var gap: UInt64 = 0
    @Flag(help: "Kill each when it first prints, and time its end.")
    var kill = false
    @Flag(help: "Print JSON.")
    var json = false
    @OptionGroup var options: PolicyOptions
    @Argument(parsing: .postTerminator, help: "The program and its arguments.")
    var command: [String]

    func run() throws {
        let layout = options.state.layout()
        try layout.create()
        let installation = try Installation.find()
        let python = try PythonSearch.find(named: options.python, homes: ["/root"])
        let plan = try PolicySource(directory: try options.policyDirectory(), layout: layout)
            .plan(policy, pythonPrefix: python.sandboxPrefix, vaultSplit: nil)
        let compiled = CompiledPlan(plan)
        let image =
            try plan.root == .tree ? SandboxSite.buildImage(of: python, layout) : nil
        let site = try SandboxSite(layout: layout, installation: installation, image: image)
        let trees = try site.makeTrees(for: plan)
        if kill {
            let ends = try (0..<count).map { _ in try timeKill(compiled, plan, trees, site) }
            try site.close()
            return try Console.write(Self.text(ofKills: ends.sorted(), compiled))
        }
        var times = LaunchTimes()
        var previous: RunningSandbox?
        for _ in 0..<count {
            try pass(.milliseconds(gap), site)
            let (sandbox, total) = try launch(compiled, plan, trees, site)
            times.add(sandbox.steps, total)
            if let previous { try check(previous, site) }
            previous = sandbox
        }
        if let previous { try check(previous, site) }
        try site.close()
        try Console.write(json ? times.json(compiled).prettyText() : times.text(compiled))
    }

    /// Serves the launcher's messages for a time.
    private func pass(_ time: Nanoseconds, _ site: SandboxSite) throws {
        guard gap > 0 else { return }
        var isOver = false
        _ = site.loop.at(MonotonicTime.now.advanced(by: time)) { isOver = true }
        try site.loop.run(until: { isOver })
    }

    private func launch(
        _ compiled: CompiledPlan,
        _ plan: SandboxPlan,
        _ trees: [SandboxTree],
        _ site: SandboxSite
    ) throws -> (sandbox: RunningSandbox, total: Nanoseconds) {
        let null = try Descriptor.open("/dev/null", .readWrite)
        var descriptors = DescriptorPlacements()
        for _ in 0..<(3 + plan.descriptors.count) { descriptors.add(null) }
        let start = MonotonicTime.now
        let sandbox = try site.launcher.launch(
            compiled,
            trees: trees,
            command: command,
            descriptors: descriptors,
            onExit: { _ in }
        )
        try site.waitForEnd(of: sandbox)
        return (sandbox, MonotonicTime.now.since(start))
    }

    /// Starts a sandbox, waits for its first output, kills it, and waits until it is gone.
    ///
    /// - Returns: microseconds from the request to the exit.
    private func timeKill(
        _ compiled: CompiledPlan,
        _ plan: SandboxPlan,
        _ trees: [SandboxTree],
        _ site: SandboxSite
    ) throws -> UInt64 {
        let null = try Descriptor.open("/dev/null", .readWrite)
        let output = try SharedPair.pipe()
        var descriptors = DescriptorPlacements()
        descriptors.add(null)
        descriptors.add(output.second.descriptor)
        for _ in 0..<(1 + plan.descriptors.count) { descriptors.add(null) }
        let sandbox = try site.launcher.launch(
            compiled,
            trees: trees,
            command: command,
            descriptors: descriptors,
            onExit: { _ in }
        )
        var isReady = false
        let token = site.loop.watch(output.first.descriptor, .readable) { _ in isReady = true }
        try site.loop.run(until: { isReady || sandbox.exit != nil })
        site.loop.forget(token)
        if let exit = sandbox.exit {
            try refuse(exit, remedy: "name a program that prints, and then waits")
        }
        let start = MonotonicTime.now
        try sandbox.kill()
        _ = try site.wait(for: sandbox)
        return UInt64(MonotonicTime.now.since(start).count / 1000)
    }

    private static func text(ofKills times: [UInt64], _ plan: CompiledPlan) -> String {
        let (least, most) = (times.first ?? 0, times.last ?? 0)
        let median = times.isEmpty ? 0 : times[times.count / 2]
        return "kill to gone: \(median) us, least \(least) us, most \(most) us\n"
            + "plan \(plan.digest), \(times.count) kills"
    }

    private func check(_ sandbox: RunningSandbox, _ site: SandboxSite) throws {
        let exit = try site.wait(for: sandbox)
        guard exit.kind != .exited || exit.code != 0 else { return }
        try refuse(exit, remedy: "name a program that exits with 0")
    }

    private func refuse(_ exit: SandboxExit, remedy: String) throws {
        throw SupervisorError(
            .hostFailed,
            operation: "measure launches",
            location: command.joined(separator: " "),
            reason: "it ended as \(exit.kind.name) with \(exit.code.map { "\($0)" } ?? "none")",
            remedy: remedy
        )
    }
}

/// Times of many launches.
private struct LaunchTimes {
    private var steps: [SetupStep: [UInt64]] = [:]
    private var totals: [UInt64] = []

    mutating func add(_ times: [StepTime], _ total: Nanoseconds) {
        for time in times { steps[time.step, default: []].append(UInt64(time.microseconds)) }
        totals.append(UInt64(total.count / 1000))
    }

    private static func median(_ values: [UInt64]) -> UInt64 { quantile(values, 50) }

    private static func quantile(_ values: [UInt64], _ percent: Int) -> UInt64 {
        values.isEmpty ? 0 : values.sorted()[values.count * percent / 100]
    }

    private var medians: [(step: SetupStep, microseconds: UInt64)] {
        SetupStep.allCases.compactMap { step in
            steps[step].map { (step, Self.median($0)) }
        }
    }

    func text(_ plan: CompiledPlan) -> String {
        var lines = medians.map { "\($0.step): \($0.microseconds) us" }
        lines.append(
            "launch to end: \(Self.median(totals)) us, p90 \(Self.quantile(totals, 90)) us, "
                + "least \(totals.min() ?? 0) us"
        )
        lines.append("plan \(plan.digest), \(totals.count) launches")
        return lines.joined(separator: "\n")
    }

    func json(_ plan: CompiledPlan) -> JSONValue {
        [
            "schema": "invigilator.launch-times/1",
            "plan_digest": .string("\(plan.digest)"),
            "count": JSONValue(totals.count),
            "median_us": .integer(Int64(Self.median(totals))),
            "p90_us": .integer(Int64(Self.quantile(totals, 90))),
            "least_us": .integer(Int64(totals.min() ?? 0)),
            "steps_us": .object(
                Dictionary(
                    uniqueKeysWithValues: medians.map {
                        ("\($0.step)", .integer(Int64($0.microseconds)))
                    }
                )
            ),
        ]
    }
}

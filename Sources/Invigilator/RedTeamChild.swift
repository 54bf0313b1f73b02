internal import HostKernel
internal import LinuxKernel

/// A program of the red team's own that lives until its standard input ends.
struct RedTeamChild {
    /// Its process.
    let pid: Int32
    /// Our end of its standard input; it ends when nobody holds this.
    let keeper: Descriptor?.Box
    /// What it prints.
    let words: Descriptor?.Box

    /// Starts a program, whose errors go where ours do.
    ///
    /// - Parameters:
    ///   - program: its absolute path.
    ///   - arguments: its arguments.
    /// - Throws: ``SystemError``.
    init(_ program: String, _ arguments: [String]) throws(SystemError) {
        var input = try DescriptorPair.pipe()
        var output = try DescriptorPair.pipe()
        let childInput = input.takeFirst()
        let childOutput = output.takeSecond()
        let errors = try Descriptor.copy(ofInherited: 2)
        var placements = DescriptorPlacements()
        placements.add(childInput)
        placements.add(childOutput)
        placements.add(errors)
        pid = try Spawn.start(
            program,
            arguments: arguments,
            environment: ["PATH=/usr/bin:/bin"],
            descriptors: placements
        )
        keeper = Descriptor?.Box(input.takeSecond())
        words = Descriptor?.Box(output.takeFirst())
    }
}

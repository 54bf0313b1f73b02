internal import ArgumentParser
internal import HostKernel
internal import LinuxKernel
internal import Supervisor
internal import Workspace

/// What a supervisor starts, while it is root, to tell the operator's hooks of events.
///
/// It becomes the owner of the experiment's directory first, and never opens the record. The first message
/// on standard input, which its supervisor writes as root, fixes the hooks; each later one has the place of
/// a hook and one event. On standard output it says whether the hook took it.
struct NotifierCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: PublisherLink.notifier,
        abstract: "Tell the hooks of a running supervisor.",
        shouldDisplay: false
    )

    @Option(help: "The program that posts to an address.")
    var broker: String

    @Argument(help: "The directory whose owner this process becomes.")
    var directory: String

    func run() throws {
        // A Ctrl-C is meant for the supervisor, which has one more event for us then.
        try kernel("leave the terminal", "notifier") { () throws(SystemError) in
            try CurrentProcess.startSession()
        }
        try OwnersGit.becomeOwner(of: directory)
        if Identity.effectiveUser == 0 {
            // The directory is root's: what a hook starts gains nothing all the same.
            try kernel("give up new privileges", "notifier") { () throws(SystemError) in
                try Identity.setNoNewPrivileges()
            }
        }
        CurrentProcess.ignorePipeSignal()
        var received: [UInt8] = []
        guard let first = try PublisherCommand.next(&received) else { return }
        let fixed = try FixedHooks(reading: first)
        while let order = try PublisherCommand.next(&received) {
            var reply = PublisherReply.done
            if let reason = try failure(of: order, fixed) { reply = .failed(reason) }
            try Console.write(PublisherMessage.framed(reply.message))
        }
    }

    /// Tells one hook; why it could not be told, if it could not.
    private func failure(of order: [UInt8], _ fixed: FixedHooks) throws -> String? {
        let told: (hook: NotifySettings.Hook, event: [UInt8])
        do throws(SupervisorError) { told = try fixed.read(order: order) } catch {
            return error.description
        }
        let event = told.event + [0x0A]
        let limit = ["--signal=KILL", "\(fixed.seconds)"]
        switch told.hook {
        case .webhook(let address):
            // The address is read from standard input: a command line can be seen by everybody.
            return try posted(limit, Array((address + "\n").utf8) + event)
        case .command(let words):
            do throws(SystemError) { return try started(limit + words, event) } catch {
                return "\(error)"
            }
        }
    }

    private static let environment = [
        "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C",
    ]
    // timeout(1) kills its group, so that no child of a hook goes on.
    private static let timeout = "/usr/bin/timeout"

    private func posted(_ limit: [String], _ input: [UInt8]) throws -> String? {
        let outcome = try kernel("post an event", broker) { () throws(SystemError) in
            try Spawn.run(
                Self.timeout,
                arguments: limit + [broker, "post"],
                environment: Self.environment,
                input: input,
                limit: 1 << 16
            )
        }
        guard outcome.end.exitCode != 0 else { return nil }
        let said = SafeText.cleaned(String(decoding: outcome.errors, as: UTF8.self), atMost: 300)
        return said.isEmpty ? Self.words(outcome.end) : said
    }

    // What a hook prints goes nowhere: a program that it leaves running would hold our pipes for longer
    // than its time.
    private func started(_ words: [String], _ input: [UInt8]) throws(SystemError) -> String? {
        var pipe = try DescriptorPair.pipe()
        let source = pipe.takeFirst()
        let null = try Descriptor.open("/dev/null", .write)
        var placements = DescriptorPlacements()
        placements.add(source)
        placements.add(null)
        placements.add(null)
        let pid = try Spawn.start(
            Self.timeout,
            arguments: words,
            environment: Self.environment,
            descriptors: placements
        )
        do throws(SystemError) {
            // An event has some hundred bytes, which a pipe takes at once.
            let writer = pipe.takeSecond()
            try writer.writeAll(input)
        } catch {
            // A hook that does not read what happened is told all the same.
        }
        let end = try ProcessEnd.wait(for: pid)
        return end.exitCode == 0 ? nil : Self.words(end)
    }

    private static func words(_ end: ProcessEnd) -> String {
        switch end.exitCode {
        case .some(124), .some(137), nil: "it took longer than its time, or was killed"
        case .some(let code): "it ended with \(code)"
        }
    }
}

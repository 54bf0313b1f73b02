public import HostKernel
internal import IterationLoop
internal import Ledger
public import LinuxKernel
internal import StrictJSON
internal import Workspace

// Who is told of rows and errors outside the record: the stream of events, and the operator's hooks.

extension PublisherLink {
    /// The command of our own program that tells hooks.
    package static let notifier = "notifier"

    /// Starts our own program as the process that tells hooks, where the configuration has some, and fixes
    /// them, while we are root.
    convenience init?(
        notifying inputs: ExperimentInputs,
        _ installation: Installation
    ) throws(SupervisorError) {
        guard let settings = inputs.config.notify else { return nil }
        let program = try system("find our own program", "/proc") { () throws(SystemError) in
            try Descriptor.open("/proc/\(CurrentProcess.pid)", [.read, .directory]).linkText("exe")
        }
        let words = [
            "ledger", Self.notifier, "--broker", installation.broker, inputs.experiment.directory,
        ]
        try self.init(program, words)
        guard send(FixedHooks(settings.hooks, within: settings.timeout).message) else {
            throw SupervisorError(
                .hostFailed,
                operation: "start a process with the operator's rights",
                location: "notify",
                reason: "it ended before it was given its hooks",
                remedy: "see what it says above, or run without the section"
            )
        }
    }
}

extension Supervision {
    /// Tells events to a stream from now on.
    ///
    /// - Parameter stream: an open stream; nothing where nobody asked for one.
    public func tellEvents(to stream: Descriptor?.Box?) {
        switch stream?.take() {
        case .some(let descriptor): events = EventStream(descriptor, loop: loop)
        case .none: break
        }
    }

    /// Tells a row that is on the disk.
    func tell(_ entry: LedgerEntry) {
        guard events != nil || notifier != nil else { return }
        let event = NightEvent.of(
            entry.kind.rawValue,
            entry.body,
            row: entry.sequence,
            at: entry.time,
            experiment: inputs.experiment.id
        )
        guard let event else { return }
        events?.tell(.object(event))
        notifier?.tell(event)
    }

    /// Tells why a command ended without its result.
    ///
    /// - Parameter error: why.
    public func tell(_ error: SupervisorError) {
        var event = NightEvent.begun(
            "error",
            at: WallClock.milliseconds,
            experiment: inputs.experiment.id
        )
        event["exit"] = JSONValue(Int(error.status.rawValue))
        event["message"] = .string(String(error.description.prefix(2000)))
        events?.tell(.object(event))
        notifier?.tell(event)
    }

    /// Reports and records a hook that cannot be told, once.
    public func watchNotifier(progress: @escaping (String) -> Void) {
        notifier?.onFailure = { [unowned self] hook, event, reason in
            progress("the operator's hook (\(hook)) was not told: \(reason)")
            do throws(SupervisorError) {
                try append(
                    .other(
                        kind: EventKind.unnotified.rawValue,
                        body: [
                            "hook": .string(hook), "event": .string(event),
                            "reason": .string(String(reason.prefix(1000))),
                        ]
                    ),
                    at: WallClock.milliseconds
                )
            } catch {
                // The record cannot be written: the next row of the night itself says so and ends it.
                progress("\(error)")
            }
        }
    }

    /// Waits a bounded moment for hooks and for the reader of events, and says what they did not get.
    ///
    /// - Parameter progress: told a line where something was lost.
    /// - Throws: ``SupervisorError``.
    public func settleTold(progress: (String) -> Void) throws(SupervisorError) {
        try notifier?.settle()
        if let failures = notifier?.failures, failures > 1 {
            progress("the operator's hooks were not told \(failures) times")
        }
        try system("tell events", "--events") { () throws(SystemError) in try events?.finish() }
        if let lost = events?.lost, lost > 0 {
            progress("\(lost) events were not taken by their reader")
        }
        events = nil
    }
}

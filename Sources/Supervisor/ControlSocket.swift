internal import HostKernel
internal import LinuxKernel
public import StrictJSON

/// What another terminal or another experiment asks of a running supervisor.
enum ControlVerb: String {
    case pause, resume, stop, status
    /// Allow more than the configuration does.
    case extend
    /// Freeze the coding sandbox until this connection ends: another experiment runs a sealed exam.
    case hold
}

/// The socket file of a running supervisor.
///
/// It is bound and reached through its directory's descriptor: a socket's own path may have no more
/// than 107 bytes (unix(7), `sun_path`), and a state directory may lie deeper.
enum ControlFile {
    /// Of a run.
    static let name = "control.sock"
    /// Of a preparation.
    static let preparing = "prepare.sock"

    /// A path of few bytes, good as long as the descriptor is open.
    static func path(of name: String, in folder: borrowing Descriptor) -> String {
        "\(folder.procPath)/\(name)"
    }
}

/// Asks a running supervisor, as root or as the supervisor's user.
public enum ControlClient {
    /// Sends one verb and waits for the answer.
    ///
    /// - Parameters:
    ///   - verb: the verb.
    ///   - id: the experiment.
    ///   - layout: where its state lies.
    ///   - members: what the verb needs beside its name.
    /// - Returns: the answer of the supervisor of a run or of a preparation; nil when neither runs.
    /// - Throws: ``SupervisorError``, also where a supervisor runs and does not answer.
    public static func ask(
        _ verb: String,
        of id: String,
        layout: StateLayout,
        with members: [String: JSONValue] = [:]
    ) throws(SupervisorError) -> JSONValue? {
        for name in [ControlFile.name, ControlFile.preparing] {
            if let answer = try ask(verb, of: id, at: name, layout, members) { return answer }
        }
        return nil
    }

    private static func ask(
        _ verb: String,
        of id: String,
        at name: String,
        _ layout: StateLayout,
        _ members: [String: JSONValue]
    ) throws(SupervisorError) -> JSONValue? {
        let loop = EventLoop()
        let question = try ControlQuestion(
            verb,
            of: id,
            at: name,
            layout: layout,
            loop: loop,
            with: members
        )
        while question.isOpen {
            try question.requireTime(to: "ask the running supervisor")
            try system("ask the running supervisor", verb) { () throws(SystemError) in
                try loop.turn(atMost: ControlQuestion.step)
            }
        }
        return question.answer
    }
}

/// One question to a supervisor that may run; an answer that needs the connection keeps it open.
///
/// Nothing here waits: a supervisor that was stopped (SIGSTOP) accepts connections in the kernel and
/// never answers one.
final class ControlQuestion {
    /// A supervisor answers between two events of its loop, which are milliseconds apart; starting an
    /// exam or copying an image takes it some seconds on a slow disk.
    static let patience = Nanoseconds.milliseconds(10_000)
    /// How long one turn of the asking loop may take.
    static let step = Nanoseconds.milliseconds(50)

    private let id: String
    private let layout: StateLayout
    private let loop: EventLoop
    private let end = MonotonicTime.now.advanced(by: patience)
    private var stream: Descriptor?.Box?
    private var token: EventLoop.Token?
    private var received: [UInt8] = []
    /// Whether the answer is still to come.
    private(set) var isOpen = false
    /// What was answered; nothing where no supervisor runs, or one ended before it answered.
    private(set) var answer: JSONValue?

    init(
        _ verb: String,
        of id: String,
        at name: String = ControlFile.name,
        layout: StateLayout,
        loop: EventLoop,
        with members: [String: JSONValue] = [:]
    ) throws(SupervisorError) {
        self.id = id
        self.layout = layout
        self.loop = loop
        do throws(SystemError) {
            let folder = try Descriptor.open(layout.experiment(id), [.path, .directory])
            try ask(
                members.merging(["verb": .string(verb)]) { $1 },
                on: UnixListener.connect(path: ControlFile.path(of: name, in: folder))
            )
        } catch {
            // Too many wait to be accepted: nobody takes what they ask. The deadline says so.
            isOpen = error.isWouldBlock
            guard isOpen || error.isMissing || error.isNotListening || error.isDisconnected else {
                throw SupervisorError(error, "ask the running supervisor", layout.control(id))
            }
        }
    }

    deinit { loop.forget(token) }

    /// Refuses to wait longer than a supervisor that is served by the kernel can take.
    func requireTime(to operation: String) throws(SupervisorError) {
        guard MonotonicTime.now >= end else { return }
        let holder = layout.holder(id)
        throw SupervisorError(
            .hostFailed,
            operation: operation,
            location: layout.control(id),
            reason: "the supervisor" + (holder.map { " (process \($0))" } ?? "")
                + " runs and did not answer within \(Self.patience.milliseconds / 1000) s",
            remedy: holder.map { "let it go on (kill -CONT \($0)) or end it (kill -KILL \($0))" }
                ?? "let that run go on, or end it"
        )
    }

    private func ask(
        _ members: [String: JSONValue],
        on stream: consuming Descriptor
    ) throws(SystemError) {
        let body = JSONValue.object(members).canonicalBytes
        let header = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: body.count >> $0) }
        // A fresh connection has room for these few bytes.
        try stream.writeAll(header + body)
        token = loop.watch(stream, .readable) { [unowned self] _ in read() }
        self.stream = Descriptor?.Box(stream)
        isOpen = true
    }

    // Nothing where the supervisor ended before it answered: it is as gone as one never started.
    private func read() {
        do throws(SystemError) {
            let part = try stream?.withDescriptor { stream throws(SystemError) in
                try stream.read(atMost: 65536)
            }
            guard let part, !part.isEmpty else { return close() }
            received += part
        } catch {
            if !error.isWouldBlock { close() }
            return
        }
        let length = received.prefix(4).reduce(0) { $0 << 8 | Int($1) }
        guard received.count >= 4, received.count >= 4 + length else { return }
        do throws(JSONError) {
            answer = try JSONValue(parsing: Array(received.dropFirst(4)), limits: .document)
        } catch {
            // What is no JSON answers nothing; whoever asked sees an answer that is not "ok".
            answer = [:]
        }
        finish()
    }

    private func finish() {
        isOpen = false
        loop.forget(token)
        token = nil
    }

    private func close() {
        finish()
        stream = nil
    }
}

extension StateLayout {
    /// The process that holds an experiment's ledger, as its lock file notes.
    func holder(_ id: String) -> Int32? {
        do throws(SystemError) {
            let note = try Descriptor.open("\(ledger(id)).lock", [.read, .nonBlocking])
                .read(atMost: 11)
            return Int32(String(decoding: note, as: UTF8.self).prefix { $0.isNumber })
        } catch {
            return nil  // the message is poorer by a number
        }
    }
}

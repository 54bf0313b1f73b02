internal import ExamResults
internal import HostKernel
internal import IterationLoop
internal import LinuxKernel
internal import StrictJSON

/// What another terminal hears while an experiment is prepared: how far it is.
///
/// The socket is not that of a run. Supervisors with a sealed exam ask that one whether a coding agent stands
/// still, and here none runs, whether this process answers or not.
final class PreparationControl {
    private let supervision: Supervision
    private var socket: RequestSocket?

    /// Begins to answer.
    init(_ supervision: Supervision) throws(SupervisorError) {
        self.supervision = supervision
        socket = try supervision.openSocket(
            ControlFile.preparing,
            onRequest: { [unowned self] number, bytes in socket?.answer(number, answer(to: bytes))
            },
            onEnd: { _ in }
        )
    }

    /// Answers nobody from now on.
    func end() throws(SupervisorError) {
        socket?.close()
        try supervision.removeSocket(ControlFile.preparing)
    }

    private func answer(to bytes: [UInt8]) -> JSONValue {
        var verb: ControlVerb?
        do throws(JSONError) {
            verb = try JSONValue(parsing: bytes, limits: .request)["verb"]?.stringValue
                .flatMap(ControlVerb.init(rawValue:))
        } catch {}  // a malformed request has no verb and is refused below
        guard verb == .status else {
            return [
                "ok": false, "reason": "the experiment is being prepared, and no run is on",
                "remedy": "wait for the end of `invigilator prepare`, or interrupt it",
            ]
        }
        return [
            "ok": true, "phase": "preparing", "paused": false,
            "waiting": supervision.turn.examWait.map { .object($0.members) } ?? .null,
            "exam": supervision.examStanding, "models": supervision.unbookedStanding,
        ]
    }
}

extension Supervision {
    /// The exam that runs or waits for its turn, for the operator; null between two exams.
    var examStanding: JSONValue {
        guard isExamining, let exam = announced?.record else { return .null }
        let rollouts = exam.count * exam.trials * (exam.incumbent == nil ? 1 : 2)
        return [
            "purpose": .string(exam.purpose.rawValue), "split": .string(exam.split.rawValue),
            "done": JSONValue(settledRollouts?() ?? 0), "count": JSONValue(rollouts),
        ]
    }

    /// Opens a socket for commands in the state of the experiment.
    func openSocket(
        _ name: String,
        onRequest: @escaping RequestSocket.Handler,
        onEnd: @escaping (Int) -> Void
    ) throws(SupervisorError) -> RequestSocket {
        // The ledger's lock is ours, so a socket file that exists belongs to a dead process.
        try removeSocket(name)
        let place = layout.experiment(inputs.experiment.id)
        return try system("open the control socket", "\(place)/\(name)") { () throws(SystemError) in
            let folder = try Descriptor.open(place, [.read, .directory])
            return try RequestSocket(
                path: ControlFile.path(of: name, in: folder),
                loop: loop,
                onRequest: onRequest,
                onEnd: onEnd
            )
        }
    }

    /// Removes a socket's file, which outlives whoever bound it.
    func removeSocket(_ name: String) throws(SupervisorError) {
        let place = layout.experiment(inputs.experiment.id)
        try system("remove the control socket", "\(place)/\(name)") { () throws(SystemError) in
            do throws(SystemError) {
                try Descriptor.open(place, [.read, .directory]).remove(name)
            } catch {
                guard error.isMissing else { throw error }
            }
        }
    }
}

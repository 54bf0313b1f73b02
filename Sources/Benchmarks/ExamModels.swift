public import LauncherClient

/// Models for the sandboxes of exams, as whoever runs the broker offers them.
public struct ExamModels {
    /// Ends the service of one sandbox; what was said there, empty where nothing of it is kept.
    public typealias Leave = () throws(ExamModelFault) -> [UInt8]

    /// Serves a sandbox that has just started; nothing where its side has no model.
    public let serve: (RunningSandbox, ExamSide, _ isSealed: Bool) throws(ExamModelFault) -> Leave?

    /// Offers models.
    ///
    /// - Parameter serve: serves a sandbox that has just started.
    public init(
        serve:
            @escaping (RunningSandbox, ExamSide, _ isSealed: Bool) throws(ExamModelFault) -> Leave?
    ) {
        self.serve = serve
    }
}

/// The two sides of an exam.
public enum ExamSide: Sendable, Equatable {
    /// The judged program.
    case candidate
    /// The benchmark's own code.
    case examiner
}

/// Why a sandbox of an exam cannot be served.
public struct ExamModelFault: Error, Sendable, CustomStringConvertible {
    /// Operation, location, reason and remedy on one line.
    public let description: String

    /// Creates a fault.
    public init(_ description: String) { self.description = description }
}

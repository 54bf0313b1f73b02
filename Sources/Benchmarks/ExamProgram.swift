/// A file that is shown in a sandbox.
public struct ExamFile: Sendable, Equatable {
    /// Its path below the program's directory: names joined by `/`, none of them `.` or `..`.
    public let path: String
    /// Its contents.
    public let bytes: [UInt8]

    /// Names a file and its contents.
    ///
    /// - Parameters:
    ///   - path: its path below the program's directory.
    ///   - bytes: its contents.
    public init(path: String, bytes: [UInt8]) {
        self.path = path
        self.bytes = bytes
    }

    /// A candidate's `agent/agent.py`.
    ///
    /// - Parameter bytes: its contents.
    /// - Returns: the file.
    public static func agent(_ bytes: [UInt8]) -> ExamFile {
        ExamFile(path: "agent/agent.py", bytes: bytes)
    }
}

/// A program of a benchmark: its files in memory and the command that starts it.
public struct ExamProgram: Sendable, Equatable {
    /// The program and its arguments; the first word is an absolute path in the sandbox.
    public let command: [String]
    /// The files it is made of.
    public let files: [ExamFile]

    /// Describes a program.
    ///
    /// - Parameters:
    ///   - command: the program and its arguments.
    ///   - files: the files it is made of.
    public init(command: [String], files: [ExamFile]) {
        self.command = command
        self.files = files
    }
}

/// The two sides of a benchmark.
public struct ExamPrograms: Sendable, Equatable {
    /// Loads the candidate and speaks the frames for it; shown under `/candidate`.
    public let candidate: ExamProgram
    /// Holds the tasks and gives the verdicts; shown under `/examiner`.
    public let examiner: ExamProgram

    /// Describes both sides.
    ///
    /// - Parameters:
    ///   - candidate: what loads the candidate.
    ///   - examiner: what holds the tasks.
    public init(candidate: ExamProgram, examiner: ExamProgram) {
        self.candidate = candidate
        self.examiner = examiner
    }
}

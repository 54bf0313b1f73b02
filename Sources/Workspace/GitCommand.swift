/// One call of git, as a value: what is started, with which words, in which environment.
public struct GitCommand: Sendable, Equatable {
    /// The program; never looked up by name.
    public static let executable = "/usr/bin/git"

    /// The words after the program's name.
    public let arguments: [String]
    /// The whole environment; nothing is inherited.
    public let environment: [(name: String, value: String)]
    /// What is written to its standard input.
    public let input: [UInt8]

    /// Makes a call on one bare repository.
    ///
    /// - Parameters:
    ///   - repository: the repository's absolute path.
    ///   - words: git's command and its options.
    ///   - input: what is written to its standard input.
    ///   - time: the time that a commit gets, in milliseconds since 1970.
    init(repository: String, _ words: [String], input: [UInt8], time: Int64) {
        // Hooks, monitors and background collection would start further programs.
        let settings = [
            "core.hooksPath=/dev/null", "core.fsmonitor=false", "gc.auto=0",
            "maintenance.auto=false",
            "core.fsync=all", "init.defaultBranch=main", "core.quotePath=true", "color.ui=never",
        ]
        arguments = settings.flatMap { ["-c", $0] } + words
        let date = "@\(max(0, time) / 1000) +0000"
        environment = [
            ("GIT_DIR", repository), ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_CONFIG_GLOBAL", "/dev/null"), ("GIT_TERMINAL_PROMPT", "0"),
            ("GIT_OPTIONAL_LOCKS", "0"), ("GIT_ATTR_NOSYSTEM", "1"),
            ("GIT_AUTHOR_NAME", "Invigilator"), ("GIT_AUTHOR_EMAIL", "invigilator@localhost"),
            ("GIT_COMMITTER_NAME", "Invigilator"), ("GIT_COMMITTER_EMAIL", "invigilator@localhost"),
            ("GIT_AUTHOR_DATE", date), ("GIT_COMMITTER_DATE", date), ("HOME", "/nonexistent"),
            ("LC_ALL", "C"), ("PATH", "/usr/bin:/bin"), ("TZ", "UTC"),
        ]
        self.input = input
    }

    /// Compares two calls.
    ///
    /// - Parameters:
    ///   - left: one call.
    ///   - right: the other call.
    /// - Returns: whether they are the same in every part.
    public static func == (left: GitCommand, right: GitCommand) -> Bool {
        left.arguments == right.arguments && left.input == right.input
            && left.environment.elementsEqual(right.environment) { $0 == $1 }
    }
}

/// What a call of git answered.
public struct GitAnswer: Sendable, Equatable {
    /// Its exit code; 128 and more where a signal ended it.
    public let exitCode: Int
    /// Its standard output.
    public let output: [UInt8]
    /// Its standard error.
    public let errors: [UInt8]

    /// Makes an answer.
    ///
    /// - Parameters:
    ///   - exitCode: the exit code; 128 and more where a signal ended it.
    ///   - output: its standard output.
    ///   - errors: its standard error.
    public init(exitCode: Int, output: [UInt8], errors: [UInt8]) {
        self.exitCode = exitCode
        self.output = output
        self.errors = errors
    }
}

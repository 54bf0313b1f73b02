internal import HostKernel
internal import LinuxKernel

extension CandidateRepository {
    /// Names a repository that the host's own git serves.
    ///
    /// - Parameter path: where it is, an absolute path beneath the experiment's state.
    public init(at path: String) {
        self.init(at: path, run: Self.spawn)
    }

    /// The most bytes that one call of git may print: the patch of two candidates of full size.
    static let outputLimit = 16 << 20

    /// Runs git with posix_spawn(3), a clean environment and three pipes.
    private static func spawn(_ command: GitCommand) throws(WorkspaceError) -> GitAnswer {
        do throws(SystemError) {
            let outcome = try Spawn.run(
                GitCommand.executable,
                arguments: command.arguments,
                environment: command.environment.map { "\($0.name)=\($0.value)" },
                input: command.input,
                limit: outputLimit
            )
            let code = outcome.end.exitCode.map(Int.init) ?? 128 + Int(outcome.end.signal ?? 0)
            return GitAnswer(exitCode: code, output: outcome.output, errors: outcome.errors)
        } catch {
            throw .host(
                operation: "run git",
                location: GitCommand.executable,
                reason: "\(error)",
                remedy: error.isMissing
                    ? "install git (apt-get install git)" : "run «invigilator doctor»"
            )
        }
    }
}

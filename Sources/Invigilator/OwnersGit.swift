internal import HostKernel
internal import LinuxKernel
internal import Supervisor
internal import Workspace

/// Git in a directory of the user's, run with the rights of its owner, without hooks and settings.
struct OwnersGit {
    /// Where git is run.
    let directory: String
    /// What is being done, for errors.
    let operation: String
    /// What to do where git refuses.
    let remedy: String

    /// Becomes the owner of a directory for good, where we are root and it is not.
    static func becomeOwner(of directory: String) throws(SupervisorError) {
        try kernel("become the owner of the directory", directory) { () throws(SystemError) in
            let status = try FileStatus(path: directory)
            guard Identity.effectiveUser == 0, status.owner != 0 else { return }
            try Identity.become(uid: status.owner, gid: status.group, dropsGroups: true)
            try Identity.setNoNewPrivileges()
            guard try Identity.isExactly(uid: status.owner, gid: status.group) else {
                CurrentProcess.exitNow(ExitStatus.hostFailed.rawValue)
            }
        }
    }

    /// What a command of git prints, without its last line feed.
    ///
    /// - Throws: a usage error where it fails.
    @discardableResult
    func required(
        _ words: [String],
        input: [UInt8] = [],
        index: String? = nil
    ) throws(SupervisorError) -> String {
        let outcome = try run(words, input: input, index: index)
        guard outcome.end.exitCode == 0 else {
            let said = SafeText.cleaned(
                String(decoding: outcome.errors, as: UTF8.self),
                atMost: 300
            )
            throw SupervisorError(
                .usage,
                operation: operation,
                location: "\(directory): git \(words.first ?? "")",
                reason: said.isEmpty ? "git refused" : said,
                remedy: remedy
            )
        }
        return Self.text(outcome)
    }

    /// The same; nothing where the command fails.
    func output(of words: [String]) throws(SupervisorError) -> String? {
        let outcome = try run(words, input: [], index: nil)
        return outcome.end.exitCode == 0 ? Self.text(outcome) : nil
    }

    private func run(
        _ words: [String],
        input: [UInt8],
        index: String?
    ) throws(SupervisorError) -> Spawn.Outcome {
        let settings = ["-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false"]
        return try kernel("run git", GitCommand.executable) { () throws(SystemError) in
            try Spawn.run(
                GitCommand.executable,
                arguments: settings + ["-C", directory] + words,
                environment: Self.environment(index: index),
                input: input,
                limit: 16 << 20
            )
        }
    }

    private static func text(_ outcome: Spawn.Outcome) -> String {
        let text = String(decoding: outcome.output, as: UTF8.self)
        return text.hasSuffix("\n") ? String(text.dropLast()) : text
    }

    private static func environment(index: String?) -> [String] {
        [
            "PATH=/usr/bin:/bin", "HOME=/nonexistent", "LC_ALL=C", "TZ=UTC",
            "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_TERMINAL_PROMPT=0",
            "GIT_OPTIONAL_LOCKS=0", "GIT_AUTHOR_NAME=Invigilator",
            "GIT_AUTHOR_EMAIL=invigilator@localhost", "GIT_COMMITTER_NAME=Invigilator",
            "GIT_COMMITTER_EMAIL=invigilator@localhost",
        ] + (index.map { ["GIT_INDEX_FILE=\($0)"] } ?? [])
    }
}

// Supervisor: performs what the loop decides, with real sandboxes, files and rows.

internal import HostKernel
internal import IterationLoop
public import LauncherClient
public import Ledger
public import LinuxKernel
public import Workspace

/// Exit codes of every program of this package (a contract of the command line).
public enum ExitStatus: Int32, Sendable {
    /// Done.
    case done = 0
    /// The candidate was refused.
    case candidateRefused = 1
    /// Usage, policy or configuration is wrong.
    case usage = 2
    /// The sandbox or the host failed, or the host enforces less than is demanded.
    case hostFailed = 3
    /// The record does not verify, or a tripwire fired.
    case integrity = 4
    /// An attack got through.
    case attackSucceeded = 5
}

/// Why a command ends, with the exit code that says it to a program.
public struct SupervisorError: Error, Sendable, CustomStringConvertible {
    /// The exit code.
    public let status: ExitStatus
    /// Operation, location, reason and remedy on one line, or one line a problem.
    public let description: String

    /// Creates an error from its four answers.
    public init(
        _ status: ExitStatus,
        operation: String,
        location: String,
        reason: String,
        remedy: String
    ) {
        self.status = status
        description = "\(operation): \(location): \(reason); \(remedy)"
    }

    /// Adopts what a lower floor says, which has the four answers already.
    public init(_ status: ExitStatus, _ error: some Error) {
        self.status = status
        description = "\(error)"
    }

    /// Adopts a refusal of the launcher or its host.
    public init(_ error: LauncherError) { self.init(.hostFailed, error) }

    /// Adopts an error of the ledger.
    public init(_ error: LedgerError) {
        switch error {
        case .damaged: self.init(.integrity, error)
        case .missing: self.init(.usage, error)
        default: self.init(.hostFailed, error)
        }
    }

    /// Adopts an error of files or configuration.
    public init(_ error: WorkspaceError) {
        switch error {
        case .document, .path, .split, .tasks, .setting: self.init(.usage, error)
        case .candidate: self.init(.candidateRefused, error)
        case .repository, .host: self.init(.hostFailed, error)
        }
    }

    /// Adopts an error of the host's kernel.
    public init(_ error: SystemError, _ operation: String, _ location: String) {
        self.init(
            .hostFailed,
            operation: operation,
            location: location,
            reason: "\(error)",
            remedy: error.isFull
                ? "make room on the disk and run again"
                : "check owner and mode of this place, or run `invigilator doctor`"
        )
    }
}

/// Runs a kernel operation and says what was being done where it failed.
func system<Answer: ~Copyable>(
    _ operation: String,
    _ location: String,
    _ body: () throws(SystemError) -> Answer
) throws(SupervisorError) -> Answer {
    do throws(SystemError) { return try body() } catch {
        throw SupervisorError(error, operation, location)
    }
}

/// Runs an operation of the workspace.
func workspace<Answer>(
    _ body: () throws(WorkspaceError) -> Answer
) throws(SupervisorError) -> Answer {
    do throws(WorkspaceError) { return try body() } catch { throw SupervisorError(error) }
}

/// Runs an operation of the ledger.
@discardableResult
func ledgered<Answer>(
    _ body: () throws(LedgerError) -> Answer
) throws(SupervisorError) -> Answer {
    do throws(LedgerError) { return try body() } catch { throw SupervisorError(error) }
}

/// Runs an operation of the launcher.
func launched<Answer>(
    _ body: () throws(LauncherError) -> Answer
) throws(SupervisorError) -> Answer {
    do throws(LauncherError) { return try body() } catch { throw SupervisorError(error) }
}

/// Runs an operation of the loop, whose errors mean that the record or the shell is wrong.
func looped<Answer>(
    _ body: () throws(LoopError) -> Answer
) throws(SupervisorError) -> Answer {
    do throws(LoopError) { return try body() } catch {
        // An experiment that was never prepared is no broken record.
        if case .notPrepared = error { throw SupervisorError(.usage, error) }
        throw SupervisorError(.integrity, error)
    }
}

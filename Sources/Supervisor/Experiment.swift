package import HostKernel
internal import LinuxKernel
package import Workspace

/// An experiment directory: the user's side of an experiment.
///
/// Anybody can write a number into a file. So nothing of the record is shown or changed before
/// ``requireBound(in:)`` found the directory's key in it.
public struct Experiment: Sendable, Equatable {
    /// The directory, absolute and without symbolic links.
    public let directory: String
    /// Whose the directory and its marker file are.
    package let user: UInt32
    private let marker: ExperimentMarker

    static let configurationName = "experiment_config.yaml"

    /// Names the experiment's state.
    public var id: String { marker.experiment }
    /// A benchmark of the user's own; absent for one that ships.
    public var benchmarkDirectory: String? { marker.benchmarkDirectory }
    /// Shows that the directory is the experiment's; nil where an earlier version made it.
    package var key: MarkerKey? { marker.key }

    init(directory: String, user: UInt32, marker: ExperimentMarker) {
        self.directory = directory
        self.user = user
        self.marker = marker
    }

    /// Finds the experiment of a directory.
    ///
    /// - Throws: ``SupervisorError`` unless there is one marker file, the directory's owner's, that nobody else
    ///   may read.
    public static func open(_ directory: String) throws(SupervisorError) -> Experiment {
        try open(directory, besidesOthers: false)
    }

    /// The same, also where others may read the file: its key is about to be replaced.
    package static func openToBind(_ directory: String) throws(SupervisorError) -> Experiment {
        try open(directory, besidesOthers: true)
    }

    private static func open(
        _ directory: String,
        besidesOthers: Bool
    ) throws(SupervisorError) -> Experiment {
        let path = try absolute(directory)
        let folder = UserFolder(path)
        let user: UInt32
        let status: FileStatus
        let bytes: [UInt8]?
        do throws(SystemError) {
            user = try folder.rights().user
            let file = try folder.open(ExperimentMarker.name, .read)
            status = try file.status()
            let isFile = status.kind == .regular && status.size <= ExperimentMarker.limit
            bytes = isFile ? try file.readAll(limit: ExperimentMarker.limit) : nil
        } catch { throw refusal(of: folder, error) }
        guard status.owner == user else {
            throw refusal(
                path,
                "it belongs to uid \(status.owner), and its directory to uid \(user)",
                "if it is that directory's: chown \(user) \(path)/\(ExperimentMarker.name)"
            )
        }
        let marker: ExperimentMarker
        do throws(ExperimentMarker.Malformed) {
            guard let bytes else {
                throw ExperimentMarker.Malformed(
                    reason: "it is no regular file of at most \(ExperimentMarker.limit) bytes"
                )
            }
            marker = try ExperimentMarker(parsing: bytes)
        } catch { throw refusal(path, error.reason, Self.rewriting(path)) }
        guard besidesOthers || marker.key == nil || status.permissions & 0o077 == 0 else {
            throw refusal(
                path,
                "it holds a key, and its mode \(String(status.permissions, radix: 8)) lets others at it",
                "chmod 600 \(path)/\(ExperimentMarker.name); if somebody may have read it, have it hold"
                    + " another key: `\(Self.sudo)invigilator ledger bind \(path)`"
            )
        }
        return Experiment(directory: path, user: user, marker: marker)
    }

    /// What stands before a command that needs the rights of whoever gave this one.
    static var sudo: String {
        [0, StateLayout.rootsSupervisor].contains(Identity.effectiveUser) ? "sudo " : ""
    }

    private static func rewriting(_ path: String) -> String {
        #"put a copy of it back; if there is none, write {"experiment":"NUMBER","schema":"#
            + #""invigilator.experiment/1"} there, NUMBER being the name of the experiment's folder in "#
            + "`experiments` of the state directory (with a benchmark of its own, "
            + #""benchmark_directory":"PATH" belongs in it, too), and run "#
            + "`\(sudo)invigilator ledger bind \(path)`"
    }

    private static func refusal(of folder: UserFolder, _ error: SystemError) -> SupervisorError {
        let path = folder.path
        if error.isMissing {
            return SupervisorError(
                .usage,
                operation: "open an experiment",
                location: path,
                reason: "it holds no \(ExperimentMarker.name)",
                remedy: "make one with `invigilator init DIR --benchmark NAME`"
            )
        }
        // Who is not root reads with their own rights, whosever the directory is.
        guard error.isRefused, Identity.effectiveUser != 0 else {
            return folder.refusal(of: ExperimentMarker.name, "open an experiment", error)
        }
        return refusal(
            path,
            "only its owner and root may read it",
            "run the same command with `sudo`, or as the user whose experiment it is"
        )
    }

    private static func refusal(
        _ path: String,
        _ reason: String,
        _ remedy: String
    ) -> SupervisorError {
        SupervisorError(
            .usage,
            operation: "open an experiment",
            location: "\(path)/\(ExperimentMarker.name)",
            reason: reason,
            remedy: remedy
        )
    }

    /// The directory, whose files are read with its owner's rights.
    package var folder: UserFolder { UserFolder(directory) }

    /// Whose configuration this is: what it names is opened with this user's rights.
    ///
    /// Whoever may write to the directory can put a configuration there. So it is the directory's owner's, or
    /// in root's directory the file's; of two users it is nobody's.
    ///
    /// - Throws: ``SupervisorError``.
    func owner() throws(SupervisorError) -> FileRights {
        let owners: (directory: UInt32, file: UInt32)
        do throws(SystemError) {
            let file = try folder.open(Self.configurationName, .read)
            owners = (try folder.rights().user, try file.status().owner)
        } catch { throw folder.refusal(of: Self.configurationName, "read a file", error) }
        guard owners.directory != 0, owners.file != 0, owners.directory != owners.file else {
            return FileRights(of: owners.directory == 0 ? owners.file : owners.directory)
        }
        throw SupervisorError(
            .usage,
            operation: "find out whose configuration this is",
            location: "\(directory)/\(Self.configurationName)",
            reason:
                "it belongs to uid \(owners.file), and its directory to uid \(owners.directory)",
            remedy: "give both to the user whose files it may name: chown USER"
        )
    }

    /// A directory's absolute path, seen from the working directory.
    static func absolute(_ path: String) throws(SupervisorError) -> String {
        do throws(SystemError) { return try Descriptor.resolvedPath(path) } catch {
            guard error.isMissing else {
                throw SupervisorError(error, "find a directory", path)
            }
            throw SupervisorError(
                .usage,
                operation: "find a directory",
                location: path,
                reason: "there is none of this name",
                remedy: "name one that exists, or make an experiment with `invigilator init`"
            )
        }
    }
}

package import HostKernel
internal import LinuxKernel
internal import StrictJSON
internal import Workspace

/// An experiment directory: the user's side of an experiment.
public struct Experiment: Sendable, Equatable {
    /// The directory, absolute and without symbolic links.
    public let directory: String
    /// Names the experiment's state.
    public let id: String
    /// A benchmark of the user's own; absent for one that ships.
    public let benchmarkDirectory: String?

    static let markerName = ".invigilator"
    static let configurationName = "experiment_config.yaml"
    private static let schema = "invigilator.experiment/1"

    init(directory: String, id: String, benchmarkDirectory: String?) {
        self.directory = directory
        self.id = id
        self.benchmarkDirectory = benchmarkDirectory
    }

    /// Finds the experiment of a directory.
    public static func open(_ directory: String) throws(SupervisorError) -> Experiment {
        let path = try absolute(directory)
        let bytes: [UInt8]
        do throws(SystemError) {
            bytes = try UserFolder(path).contents(of: markerName, limit: 4096)
        } catch {
            throw SupervisorError(
                .usage,
                operation: "open an experiment",
                location: path,
                reason: "\(error)",
                remedy: "make one with `invigilator init DIR --benchmark NAME`"
            )
        }
        let found: String
        let experiment: Experiment
        do throws(JSONError) {
            var reader = try ObjectReader(
                JSONValue(parsing: bytes, limits: .request),
                location: markerName
            )
            found = try reader.requiredString("schema")
            experiment = Experiment(
                directory: path,
                id: try reader.requiredString("experiment"),
                benchmarkDirectory: try reader.optionalString("benchmark_directory")
            )
            try reader.finish()
        } catch {
            throw malformed(path, "\(error)")
        }
        guard found == schema, isID(experiment.id) else {
            throw malformed(path, "unknown schema or id")
        }
        return experiment
    }

    private static func malformed(_ path: String, _ reason: String) -> SupervisorError {
        SupervisorError(
            .usage,
            operation: "open an experiment",
            location: "\(path)/\(markerName)",
            reason: reason,
            remedy: "restore the file that `invigilator init` wrote"
        )
    }

    private static func isID(_ text: String) -> Bool {
        text.utf8.count == 16
            && text.utf8.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
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

    /// The bytes of the marker file.
    var marker: [UInt8] {
        var members: [String: JSONValue] = [
            "schema": .string(Self.schema), "experiment": .string(id),
        ]
        if let benchmarkDirectory { members["benchmark_directory"] = .string(benchmarkDirectory) }
        return JSONValue.object(members).canonicalBytes + [10]
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

public import HostKernel
public import LinuxKernel
internal import StrictJSON

/// A cassette's file, opened as root before root is given up.
///
/// Its first line is the supervisor's: under which key the recorded night's split was drawn. Without
/// the same split a replay would be told other tasks, and would ask its model something else. Every
/// further line is the broker's.
public struct CassetteFile {
    /// What is done with it.
    public let cassette: ModelCassette
    /// The open file, for the broker.
    public let file: Descriptor?.Box
    /// Whether nothing has been recorded yet.
    public let isEmpty: Bool
    /// The key of the recorded night's split; absent while recording.
    public let splitKey: [UInt8]?

    /// Its absolute path.
    public let path: String

    private static let schema = "invigilator.cassette/1"
    private static let longestHeader = 4096

    /// Opens it: makes it where it is recorded, demands it where it is replayed.
    ///
    /// - Parameters:
    ///   - cassette: what the configuration says.
    ///   - experiment: the directory that a relative path is seen from.
    ///   - host: whose files are believed.
    /// - Throws: ``WorkspaceError/setting(operation:location:reason:remedy:)``.
    public init(
        _ cassette: ModelCassette,
        seenFrom experiment: String,
        on host: ModelKeyHost
    ) throws(WorkspaceError) {
        self.cassette = cassette
        let name =
            switch cassette {
            case .record(let name), .replay(let name): name
            }
        let path = name.hasPrefix("/") ? name : "\(experiment)/\(name)"
        self.path = path
        let status: FileStatus
        let beginning: [UInt8]
        do throws(SystemError) {
            let opened = try host.rights.perform { () throws(SystemError) in
                try Self.opened(cassette, path)
            }
            status = try opened.status()
            // What is recorded is not read: the broker, which is handed the file, must not learn the
            // split from its first line.
            let isRead = status.kind == .regular && cassette.isReplay
            beginning = isRead ? try opened.contents(limit: Self.longestHeader) : []
            file = Descriptor?.Box(opened)
        } catch {
            throw Self.notOpened(cassette, path, error, host.rights)
        }
        try Self.check(status, path, host)
        isEmpty = status.size == 0
        switch cassette {
        case .record: splitKey = nil
        case .replay: splitKey = try Self.splitKey(beginning, path)
        }
    }

    /// Begins a recording; only a file with nothing in it is begun.
    ///
    /// - Parameter splitKey: the key that the split is drawn under.
    /// - Throws: ``WorkspaceError/setting(operation:location:reason:remedy:)``.
    public func begin(splitKey: [UInt8]) throws(WorkspaceError) {
        guard isEmpty else {
            throw Self.refused(
                path,
                "it holds a recording already, and answers of two nights cannot be told apart",
                "record into another file, or remove this one"
            )
        }
        let header: JSONValue = [
            "schema": .string(Self.schema), "split_key": .string(Self.hex(splitKey)),
        ]
        do throws(SystemError) {
            try file.withDescriptor { (file) throws(SystemError) in
                try file.writeAll(header.canonicalBytes + [0x0A])
            }
        } catch {
            throw Self.refused(path, "\(error)", "make room for it")
        }
    }

    // MARK: - the file

    private static func opened(
        _ cassette: ModelCassette,
        _ path: String
    ) throws(SystemError) -> Descriptor {
        // Neither a FIFO nor a device may keep us waiting.
        guard case .record = cassette else {
            return try Descriptor.openWithoutLinks(path, [.read, .nonBlocking])
        }
        let parts = path.split(separator: "/")
        let folder = try Descriptor.openWithoutLinks(
            "/" + parts.dropLast().joined(separator: "/"),
            [.read, .directory]
        )
        return try folder.openBeneath(
            String(parts.last ?? "."),
            [.write, .create, .append, .nonBlocking]
        )
    }

    private static func notOpened(
        _ cassette: ModelCassette,
        _ path: String,
        _ error: SystemError,
        _ rights: FileRights
    ) -> WorkspaceError {
        if !rights.areOurs, error.isRefused {
            return refused(
                path,
                "uid \(rights.user), whose configuration names it, may not open it so",
                "name a file and a directory of that user's: chown \(rights.user)"
            )
        }
        let remedy =
            switch cassette {
            case .record: "name a file in a directory that is there, and no symbolic link"
            case .replay where error.isMissing:
                "record it first, by another experiment with cassette: {record: FILE}"
            case .replay: "name a readable file by a path without symbolic links"
            }
        return refused(path, error.isMissing ? "there is no such file" : "\(error)", remedy)
    }

    // What is played decides what the coding agent does, as its model would.
    private static func check(
        _ status: FileStatus,
        _ path: String,
        _ host: ModelKeyHost
    ) throws(WorkspaceError) {
        guard status.kind == .regular else {
            throw refused(path, "it is no regular file", "name a plain file")
        }
        guard status.permissions & 0o022 == 0 else {
            throw refused(path, "others than its owner may write to it", "chmod go-w \(path)")
        }
        guard host.owners.contains(status.owner) else {
            throw refused(
                path,
                "it belongs to uid \(status.owner)",
                "give it to root: chown root \(path)"
            )
        }
    }

    // MARK: - its first line

    private static func splitKey(
        _ beginning: [UInt8],
        _ path: String
    ) throws(WorkspaceError) -> [UInt8] {
        let line = Array(beginning.prefix { $0 != 0x0A })
        do throws(JSONError) {
            let header = try JSONValue(parsing: line, limits: .request)
            if header["schema"]?.stringValue == schema,
                let key = header["split_key"]?.stringValue.flatMap(bytes)
            {
                return key
            }
        } catch {
            // Whatever else it is, it is no cassette; its text stays its own.
        }
        throw refused(
            path,
            "its first line is not that of a cassette (\(schema))",
            "name a file that cassette: {record: FILE} made, or record it again"
        )
    }

    private static func hex(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    private static func bytes(_ hex: String) -> [UInt8]? {
        let digits = hex.utf8.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
        guard digits.count == 2 * SplitDraw.secretByteCount, hex.utf8.count == digits.count
        else { return nil }
        return stride(from: 0, to: digits.count, by: 2).map {
            UInt8(digits[$0] << 4 | digits[$0 + 1])
        }
    }

    private static func refused(
        _ location: String,
        _ reason: String,
        _ remedy: String
    ) -> WorkspaceError {
        .setting(
            operation: "open the cassette",
            location: location,
            reason: reason,
            remedy: remedy
        )
    }
}

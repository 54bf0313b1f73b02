internal import LinuxKernel
internal import SandboxPolicy
internal import StrictYAML

/// Why the coding agent's files are not ones that may be judged.
public indirect enum CandidateRefusal: Error, Sendable, Equatable {
    /// There is no such file.
    case missing
    /// The name, or a directory above it, is a symbolic link.
    case symbolicLink
    /// The name is something other than a regular file.
    case notRegular(kind: Kind)
    /// The file has more names than one, so what is judged could be changed under another.
    case hardLinked(count: Int)
    /// The file is empty.
    case empty
    /// The file is larger than allowed, in bytes.
    case tooLarge(size: Int, limit: Int)
    /// The file changed while it was read.
    case changedWhileRead
    /// The bytes are not UTF-8.
    case notUTF8
    /// A zero byte, which no Python source may hold; the offset counts from 0.
    case zeroByte(offset: Int)
    /// The file may not be read by its own sandbox's reader.
    case unreadable(reason: String)
    /// The name is one of the surface, and one that no file of a candidate may have.
    case badName(reason: String)
    /// What files of the surface lie in is a link or a file.
    case notADirectory
    /// More files match the surface than a candidate may have.
    case tooMany(count: Int, limit: Int)
    /// One of these, of a file other than `agent/agent.py`.
    case of(path: String, CandidateRefusal)

    /// The refusal with the file that it is about.
    func `in`(_ path: String) -> CandidateRefusal {
        if case .of = self { return self }
        return path == Surface.program ? self : .of(path: path, self)
    }

    /// What a name can be, other than a regular file or a symbolic link.
    public enum Kind: String, Sendable, Equatable {
        /// A directory.
        case directory = "a directory"
        /// A named pipe, a socket or a device.
        case special = "a named pipe, a socket or a device"
    }

    /// A stable word for records and replies.
    public var code: String {
        switch self {
        case .missing: "missing"
        case .symbolicLink: "symbolic-link"
        case .notRegular: "not-regular"
        case .hardLinked: "hard-linked"
        case .empty: "empty"
        case .tooLarge: "too-large"
        case .changedWhileRead: "changed-while-read"
        case .notUTF8: "not-utf8"
        case .zeroByte: "zero-byte"
        case .unreadable: "unreadable"
        case .badName: "bad-name"
        case .notADirectory: "not-a-directory"
        case .tooMany: "too-many"
        case .of(_, let refusal): refusal.code
        }
    }

    /// What is wrong with the file.
    public var reason: String {
        switch self {
        case .missing: "the file does not exist"
        case .symbolicLink: "the file, or a directory above it, is a symbolic link"
        case .notRegular(let kind): "the file is \(kind.rawValue)"
        case .hardLinked(let count): "the file has \(count) names"
        case .empty: "the file is empty"
        case .tooLarge(let size, let limit):
            "the file has \(size) bytes, the limit is \(limit)"
        case .changedWhileRead: "the file changed while it was read"
        case .notUTF8: "the file is not UTF-8"
        case .zeroByte(let offset): "byte \(offset) is zero"
        case .unreadable(let reason): "the file cannot be read: \(reason)"
        case .badName(let reason): "its name is not one to be kept: \(reason)"
        case .notADirectory: "it is no directory"
        case .tooMany(let count, let limit): "\(count) files are there, the limit is \(limit)"
        case .of(let path, let refusal): "\(path.printablePrefix(300)): \(refusal.reason)"
        }
    }

    /// What the coding agent can do about it.
    public var remedy: String {
        switch self {
        case .missing: "write the file, or run «exam revert»"
        case .symbolicLink, .notRegular, .hardLinked:
            "remove it and write a plain file of that name"
        case .empty: "write the agent's source, or run «exam revert»"
        case .tooLarge: "keep the agent's source small; data does not belong in it"
        case .changedWhileRead: "stop what writes to the file, then submit again"
        case .notUTF8, .zeroByte: "save the file as UTF-8 text"
        case .unreadable: "give the file the mode 0644, its directory 0755, and hold no lease on it"
        case .badName: "rename or remove it"
        case .notADirectory: "remove it, and make a directory of that name where one is needed"
        case .tooMany: "remove what is not needed"
        case .of(_, let refusal): refusal.remedy
        }
    }
}

extension CandidateRefusal: CustomStringConvertible {
    /// Operation, location, reason and remedy on one line.
    public var description: String {
        let place =
            if case .of = self {
                ""
            } else if case .tooMany = self {
                "agent/: "
            } else {
                "\(Surface.program): "
            }
        return "copy the candidate out: \(place)\(reason); remedy: \(remedy)"
    }
}

extension CandidateSnapshot {
    /// What the host's kernel refused while a candidate was copied.
    static func host(
        _ operation: String,
        _ file: String,
        _ error: SystemError
    ) -> WorkspaceError {
        .host(
            operation: operation,
            location: "agent/\(file)",
            reason: "\(error)",
            remedy: "run «invigilator doctor»"
        )
    }
}

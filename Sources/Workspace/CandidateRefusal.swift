internal import LinuxKernel

/// Why the coding agent's file is not one that may be judged.
public enum CandidateRefusal: Error, Sendable, Equatable {
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
        }
    }

    /// What the coding agent can do about it.
    public var remedy: String {
        switch self {
        case .missing: "write agent/agent.py, or run «exam revert»"
        case .symbolicLink, .notRegular, .hardLinked:
            "remove it and write a plain file of that name"
        case .empty: "write the agent's source, or run «exam revert»"
        case .tooLarge: "keep the agent's source small; data does not belong in it"
        case .changedWhileRead: "stop what writes to the file, then submit again"
        case .notUTF8, .zeroByte: "save the file as UTF-8 text"
        case .unreadable: "give the file the mode 0644"
        }
    }
}

extension CandidateRefusal: CustomStringConvertible {
    /// Operation, location, reason and remedy on one line.
    public var description: String {
        "copy the candidate out: agent/agent.py: \(reason); remedy: \(remedy)"
    }
}

extension CandidateSnapshot {
    /// What the host's kernel refused while a candidate was copied.
    static func host(
        _ operation: String,
        _ file: BeneathPath,
        _ error: SystemError
    ) -> WorkspaceError {
        .host(
            operation: operation,
            location: file.text,
            reason: "\(error)",
            remedy: "run «invigilator doctor»"
        )
    }
}

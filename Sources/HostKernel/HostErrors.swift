internal import CLinux
public import LinuxKernel

extension SystemError {
    /// Whether a symbolic link stood where none may.
    public var isSymbolicLink: Bool { number == ELOOP }
    /// Whether the disk or a quota is full.
    public var isFull: Bool { number == ENOSPC || number == EDQUOT }
    /// Whether nobody listens at a socket.
    public var isNotListening: Bool { number == ECONNREFUSED }
    /// Whether rights are missing.
    public var isRefused: Bool { number == EPERM || number == EACCES }
    /// Whether a path led out of its folder, or onto another mount.
    public var isOutside: Bool { number == EXDEV }
    /// Whether what was opened is no regular file.
    public var isNoFile: Bool { number == Self.noFile }
    /// Whether a file is larger than what is read of it.
    public var isTooLarge: Bool { number == EFBIG }

    static let noFile = EINVAL
}

// LinuxKernel: typed wrappers around kernel calls, with one owner for each handle.

internal import CLinux

/// A kernel call that failed.
///
/// Small enough to be made without allocation in a freshly cloned child.
public struct SystemError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The call, by its manual-page name.
    public let call: StaticString
    /// What it was applied to; empty where that is plain from the call.
    public let subject: String
    /// The error number, above zero.
    public let number: Int32

    /// Creates an error.
    public init(_ call: StaticString, _ subject: String = "", number: Int32) {
        self.call = call
        self.subject = subject
        self.number = number
    }

    /// The error's symbolic name, such as `ENOENT`.
    public var name: String {
        // Safety: strerrorname_np returns a pointer to a constant string, or null.
        guard let text = unsafe clx_errno_name(number) else { return "errno \(number)" }
        return unsafe String(cString: text)
    }

    /// Call, subject and name on one line.
    public var description: String {
        subject.isEmpty ? "\(call): \(name)" : "\(call) \(subject): \(name)"
    }

    /// Compares call, subject and number.
    public static func == (left: SystemError, right: SystemError) -> Bool {
        left.number == right.number && left.subject == right.subject
            && left.call.description == right.call.description
    }
}

extension SystemError {
    /// Whether a look-up found nothing.
    public var isMissing: Bool { number == ENOENT }
    /// Whether the call would have had to wait.
    public var isWouldBlock: Bool { number == EAGAIN }
    /// Whether something of that name is there already.
    public var isAlreadyThere: Bool { number == EEXIST }
    /// Whether the other end is gone.
    public var isDisconnected: Bool { number == EPIPE || number == ECONNRESET }
    /// Whether something is still in use.
    public var isBusy: Bool { number == EBUSY }
    /// Whether the descriptor is not open.
    public var isNotOpen: Bool { number == EBADF }
}

/// Turns the result of a shim into a value or an error, retrying a call that a signal interrupted.
///
/// The only place where interruption is retried.
@discardableResult
@_spi(KernelHandles) public func result(
    _ call: StaticString,
    _ subject: @autoclosure () -> String = "",
    _ body: () -> Int
) throws(SystemError) -> Int {
    while true {
        let value = body()
        if value >= 0 { return value }
        if value == -Int(EINTR) { continue }
        throw SystemError(call, subject(), number: Int32(-value))
    }
}

internal import CSeccomp
internal import SandboxPlan

/// Finds the x86_64 number of a system call by its name.
public enum SyscallNumbers {
    /// Calls that are newer than libseccomp 2.5.4; an entry can go when the oldest supported
    /// libseccomp knows the name (`scmp_sys_resolver NAME` prints a number above 0).
    static let newer: [String: UInt32] = [
        "fchmodat2": 452, "map_shadow_stack": 453, "futex_wake": 454, "futex_wait": 455,
        "futex_requeue": 456, "mseal": 462,
    ]

    /// The number of a named call.
    ///
    /// - Throws: ``SeccompError/unknownCall(_:)`` when neither libseccomp nor the tables of this
    ///   target know the name.
    public static func number(of name: String) throws(SeccompError) -> UInt32 {
        if let number = newer[name] { return number }
        if let known = RefusedCalls.all.first(where: { $0.name == name }) { return known.number }
        guard name.utf8.allSatisfy({ $0 != 0 }) else { throw .unknownCall(name) }
        // Safety: the argument is a Swift string bridged to a NUL-terminated C string that lives
        // for the call; libseccomp only reads it.
        let number = unsafe seccomp_syscall_resolve_name_arch(cseccomp_architecture_x86_64(), name)
        // Negative numbers stand for "unknown" and for calls that x86_64 does not have.
        guard number >= 0 else { throw .unknownCall(name) }
        return UInt32(number)
    }
}

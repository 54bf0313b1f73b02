internal import CLinux
public import LinuxKernel

/// Who we are where we are not root.
extension Identity {
    /// The effective group id.
    public static var effectiveGroup: UInt32 { getegid() }

    /// Gives up the gain of privileges for good, as somebody who has none.
    ///
    /// A bounding set and securebits need a capability to be changed, and bound nothing once
    /// no_new_privs is set (capabilities(7)).
    ///
    /// - Returns: capability sets that are not empty, by their names in proc(5); nothing where all is well.
    /// - Throws: ``SystemError``.
    public static func confineOrdinaryUser() throws(SystemError) -> [String] {
        try setNoNewPrivileges()
        return try missingWalls().filter { !["CapBnd:", "securebits"].contains($0) }
    }
}

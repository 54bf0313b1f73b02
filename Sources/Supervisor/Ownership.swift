internal import HostKernel
package import LinuxKernel

// What a command of root writes into a directory of a user's belongs to that user. The owner is the
// directory's, and never what an environment variable such as SUDO_UID says.
extension Descriptor {
    /// Gives something that root has just made in this directory to the directory's owner.
    ///
    /// The owner may exchange names in the directory meanwhile. So the file is opened and looked at
    /// first: what was not root's, or has a second name, is not given away.
    ///
    /// - Throws: ``SystemError``.
    package borrowing func giveToOwner(_ name: String) throws(SystemError) {
        let owner = try status()
        guard Identity.effectiveUser == 0, owner.owner != 0 else { return }
        let made = try openBeneath(name, [.read, .nonBlocking])
        let found = try made.status()
        guard found.owner == 0, found.kind == .directory || found.linkCount == 1 else { return }
        try made.setOwner(owner.owner, group: owner.group)
    }

    /// Opens a file of this directory for writing, while we have the rights of whoever runs us.
    ///
    /// A new one belongs to the directory's owner. One that is there is no link and has no second name: what it
    /// shares its bytes with may be a file that its directory's owner could not write to.
    ///
    /// - Parameters:
    ///   - name: its name.
    ///   - more: flags besides those for writing.
    ///   - emptied: whether a regular file loses what it holds.
    /// - Returns: the file.
    /// - Throws: ``SystemError``.
    package borrowing func openOutput(
        _ name: String,
        _ more: Mode = [],
        emptied: Bool
    ) throws(SystemError) -> Descriptor {
        do throws(SystemError) {
            let made = try openBeneath(name, more.union([.write, .createNew]), permissions: 0o644)
            if Identity.effectiveUser == 0 {
                let owner = try status()
                try made.setOwner(owner.owner, group: owner.group)
            }
            return made
        } catch {
            guard error.isAlreadyThere else { throw error }
        }
        // Not waiting: a pipe that nobody reads is an error.
        let found = try openBeneath(name, more.union([.write, .nonBlocking]))
        let facts = try found.status()
        guard facts.kind == .regular else { return found }
        guard facts.linkCount == 1 else {
            throw SystemError("open", "\(name), one of \(facts.linkCount) names", number: 31)
        }
        if emptied { try found.empty() }
        return found
    }
}

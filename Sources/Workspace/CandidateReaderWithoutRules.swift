#if LayerSwitches
internal import HostKernel
internal import LinuxKernel
internal import SandboxPlan

// A test-only build shows with this file what the rules of copying are for: without them a
// symbolic link hands in a file of the host, and a file with two names or of any size is taken.

extension CandidateSnapshot {
    /// The bytes behind the name, links followed; nothing where the rules are in place.
    static func readWithoutRules(
        _ file: BeneathPath,
        _ directory: borrowing Descriptor
    ) throws(WorkspaceError) -> [UInt8]? {
        guard Layer.snapshot.isOmitted else { return nil }
        let limit = 64 << 20
        do throws(SystemError) {
            guard try FileStatus(of: file.text, in: directory).kind == .symbolicLink else {
                return try directory.contents(of: file.text, limit: limit)
            }
            let target = try directory.linkText(file.text)
            guard target.hasPrefix("/") else {
                return try directory.contents(of: target, limit: limit)
            }
            return try Descriptor.open(target, [.read]).readAll(limit: limit)
        } catch {
            throw host("read the candidate without rules", file.text, error)
        }
    }
}
#endif

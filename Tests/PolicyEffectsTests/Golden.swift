import LinuxKernel
import SandboxPolicy
import Testing

/// The text of a file beside the tests that a change is reviewed against.
func golden(_ name: String) throws -> String {
    let parts = #filePath.split(separator: "/").dropLast()
    let directory = "/" + parts.joined(separator: "/") + "/Goldens"
    let bytes = try Descriptor.open("\(directory)/\(name)", .read).readAll(limit: 1 << 20)
    return String(decoding: bytes, as: UTF8.self)
}

/// The repository's own policies, found from this file.
let policyDirectory: String = {
    let parts = #filePath.split(separator: "/").dropLast(3)
    return "/" + parts.joined(separator: "/") + "/policies"
}()

/// A context in which everything that the shipped policies mount is there.
func plainContext() -> ResolutionContext {
    ResolutionContext(
        stateDirectory: "/var/lib/invigilator",
        variables: PolicyVariables(vaultSplit: "/var/lib/invigilator/vault/x/test"),
        lookUp: plainHost
    )
}

/// A host on which every path is a plain directory, but for one file.
func plainHost(_ path: String) -> SourceFacts? {
    let kind: SourceFacts.Kind = path == "/etc/ld.so.cache" ? .file : .directory
    return SourceFacts(device: 1, inode: 1, kind: kind, permissions: 0o755)
}

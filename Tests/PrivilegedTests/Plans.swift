import Foundation
import LinuxKernel
import SandboxPlan
import SandboxPolicy

/// Plans of the shipped policies, resolved on this host.
enum Plans {
    // On a kernel that is older than the policies demand, `scripts/vm-tests` lowers what they demand of
    // Landlock, so that the rest can be tested there.
    private static let loweredABI = ProcessInfo.processInfo
        .environment["INVIGILATOR_TESTS_LANDLOCK"].flatMap { UInt8($0) }

    /// A candidate with a procfs, in which most tests look for their facts; the shipped one has none.
    static func candidate() throws -> SandboxPlan {
        try shippedCandidate().with { $0.proc = .pidOnly }
    }
    static func shippedCandidate() throws -> SandboxPlan { try resolved("candidate") }
    static func coding() throws -> SandboxPlan { try resolved("coding-agent") }

    /// An examiner that sees one split directory.
    static func examiner(split: String, state: String) throws -> SandboxPlan {
        try resolved("examiner", PolicyVariables(vaultSplit: split), state: state)
            .with { $0.proc = .pidOnly }
    }

    /// The broker, which sees the probe at its own path.
    static func broker() throws -> SandboxPlan { try resolved("broker", showing: [Host.probe]) }

    private static func resolved(
        _ name: String,
        _ variables: PolicyVariables = PolicyVariables(),
        state: String = "/var/lib/invigilator",
        showing paths: [String] = []
    ) throws -> SandboxPlan {
        let library = try PolicyLibrary(directory: Host.repository + "/policies")
        let context = try ResolutionContext.host(
            stateDirectory: state,
            variables: variables
        )
        let resolver = PolicyResolver(groups: library.groups, context: context)
        return try resolver.resolve(try library.policy(named: name).showing(paths)).plan.with {
            plan in
            if let loweredABI { plan.landlock.minimumABI = loweredABI }
        }
    }
}

extension SandboxPlan {
    /// The plan with something changed.
    func with(_ change: (inout SandboxPlan) throws -> Void) rethrows -> SandboxPlan {
        var changed = self
        try change(&changed)
        return changed
    }
}

extension PinnedSource {
    /// A host path as it is now.
    init(_ path: String) throws {
        let status = try FileStatus(path: path)
        self.init(
            path: path,
            device: status.device,
            inode: status.inode,
            isDirectory: status.kind == .directory
        )
    }
}

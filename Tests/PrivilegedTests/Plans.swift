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
    /// A candidate that has a model, and as above a procfs; `changing` texts of its policy, the policy of
    /// somebody else.
    static func candidateWithModel(changing texts: [String: String] = [:]) throws -> SandboxPlan {
        try resolved("candidate-with-model", changing: texts).with { $0.proc = .pidOnly }
    }
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
        showing paths: [String] = [],
        changing texts: [String: String] = [:]
    ) throws -> SandboxPlan {
        let scratch = try Scratch()
        var directory = Host.repository + "/policies"
        if !texts.isEmpty {
            let shipped = directory
            directory = scratch.path + "/policies"
            try FileManager.default.copyItem(atPath: shipped, toPath: directory)
            let file = "\(directory)/\(name).yaml"
            var policy = try String(contentsOfFile: file, encoding: .utf8)
            for (old, new) in texts {
                guard policy.contains(old) else {
                    throw CocoaError(.fileReadCorruptFile, userInfo: [NSFilePathErrorKey: old])
                }
                policy = policy.replacingOccurrences(of: old, with: new)
            }
            try policy.write(toFile: file, atomically: true, encoding: .utf8)
        }
        let library = try PolicyLibrary(directory: directory)
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

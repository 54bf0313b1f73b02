internal import SandboxPlan

/// Landlock rules that say again, in a second mechanism, what the mounts say.
enum LandlockDerivation {
    /// One rule for the root, one for the devices, one a mount.
    static func rules(root: PolicyRoot, mounts: [PlannedMount]) throws(PlanError) -> [LandlockRule]
    {
        let rootAccess: LandlockAccess =
            switch root {
            case .tree: .readExecute
            case .skeleton: .read
            }
        var rules = [
            LandlockRule(path: try InsidePath("/"), access: rootAccess),
            LandlockRule(path: try InsidePath("/dev"), access: .device),
        ]
        rules += mounts.map { LandlockRule(path: $0.target, access: access(to: $0)) }
        return rules
    }

    private static func access(to mount: PlannedMount) -> LandlockAccess {
        switch (mount.access, mount.isExecutable) {
        case (.readOnly, false): .read
        case (.readOnly, true): .readExecute
        case (.readWrite, false): .readWrite
        case (.readWrite, true): .readWriteExecute
        }
    }
}

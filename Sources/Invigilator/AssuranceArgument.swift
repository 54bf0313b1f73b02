internal import ArgumentParser
internal import SandboxPlan

/// A level of assurance on the command line, by the name that policies use.
enum AssuranceArgument: String, CaseIterable, ExpressibleByArgument {
    case full
    case delegated
    case singleUID = "single-uid"

    /// The level.
    var level: AssuranceLevel {
        switch self {
        case .full: .full
        case .delegated: .delegated
        case .singleUID: .singleUID
        }
    }
}

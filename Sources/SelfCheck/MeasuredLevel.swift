public import LauncherClient
internal import LauncherProtocol
public import SandboxPlan

/// The assurance level of a host, as it was measured by doing.
public struct MeasuredLevel: Sendable, Equatable {
    /// The level.
    public let level: AssuranceLevel
    /// Why it is not `full`, and what to do about that; absent where it is.
    public let shortfall: (reason: String, remedy: String)?

    /// States a level.
    public init(_ level: AssuranceLevel, shortfall: (reason: String, remedy: String)? = nil) {
        self.level = level
        self.shortfall = shortfall
    }

    /// Judges findings: `full` and `delegated` have limits, a freezer that can kill what it froze, and a
    /// network whose counters are closed.
    ///
    /// - Parameters:
    ///   - findings: what was seen.
    ///   - reach: what the launcher reaches at the most, by who started it.
    package init(_ findings: [QuickFinding], reach: AssuranceLevel) {
        let needed = QuickProbe.allCases.filter { !$0.stands(at: .singleUID) }
        let shortfalls = findings.filter { needed.contains($0.probe) }.shortfalls
        guard let first = shortfalls.first else {
            let cure = "run as root where a policy demands full"
            let why = ("an ordinary user's launcher made the sandboxes", cure)
            self.init(reach, shortfall: reach == .full ? nil : why)
            return
        }
        let reason = "\(first.location): \(first.reason)"
        self.init(
            .singleUID,
            shortfall: reach > .singleUID
                ? (reason, first.probe.cure)
                : ("an ordinary user has one id and no control group: \(reason)", Self.ordinaryCure)
        )
    }

    private static let ordinaryCure =
        "run as root, delegate a control group and subordinate ids (`invigilator doctor` says how), or "
        + "demand less: `invigilator init DIR --assurance single-uid` writes such policies, to train and "
        + "demonstrate only"

    /// Compares two levels with their reasons.
    public static func == (left: MeasuredLevel, right: MeasuredLevel) -> Bool {
        left.level == right.level && left.shortfall?.reason == right.shortfall?.reason
            && left.shortfall?.remedy == right.shortfall?.remedy
    }
}

extension QuickSet {
    /// Measures the level: a sandbox is made, limited, frozen, thawed, killed, and another made.
    ///
    /// - Parameter plan: any plan of those that are going to be used.
    /// - Returns: the level, and why it is not `full`; `full` in a test-only build without self-check.
    /// - Throws: `LauncherError`, where the launcher is lost; a refused launch is a level.
    public func measuredLevel(under plan: CompiledPlan) throws(LauncherError) -> MeasuredLevel {
        guard !Layer.selfCheck.isOmitted else { return MeasuredLevel(.full) }
        do throws(LauncherError) {
            return MeasuredLevel(try findings(under: [plan, plan]), reach: launcher.reach)
        } catch {
            // Of a plan that no host could carry out nothing is learnt about this one.
            guard case .refused(let failure) = error, Self.isSound(plan) else { throw error }
            return MeasuredLevel(
                .noUserNamespace,
                shortfall: (
                    "no sandbox can be made: step \(failure.step): \(failure.location): "
                        + failure.reason, failure.remedy
                )
            )
        }
    }

    private static func isSound(_ plan: CompiledPlan) -> Bool {
        do throws(PlanError) {
            try PlanInvariants.check(plan.plan())
            return true
        } catch {
            return false
        }
    }
}

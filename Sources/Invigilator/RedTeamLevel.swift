internal import SandboxPlan
internal import Supervisor

extension RedTeamRun {
    /// The level that an ordinary user's launcher is known to reach; nothing as root, where each policy
    /// says what it demands.
    static var level: AssuranceLevel? {
        Installation.reach == .full ? nil : Installation.reach
    }

    /// The plan as an ordinary user's launcher makes it: it is looked at what such a sandbox closes,
    /// whatever the policy demands of exams.
    static func demandingLess(_ plan: SandboxPlan) -> SandboxPlan {
        var plan = plan
        if let level { plan.demandedLevel = min(plan.demandedLevel, level) }
        return plan
    }
}

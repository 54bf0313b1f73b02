internal import CLinux

/// What every system-call filter must answer, proved over every call that a process can make.
public enum FilterInvariants {
    private typealias Demand = (
        name: String, isMet: (_ answer: FilterWalk.Answer, _ known: [KnownBits]) -> Bool
    )

    // Numbers that the table of x86-64 does not hold (Linux 6.18): 335 and 336 belong to trampolines of
    // the kernel's own, those up to 423 are left free, those from 471 have no call yet. The others are
    // x32's, but for -1, by which a tracer skips a call; libseccomp leaves that to the default.
    private static let unknown: [ClosedRange<UInt32>] = [
        335...423, 471...0x3fff_ffff, .max ... .max,
    ]
    private static let x32: ClosedRange<UInt32> = 0x4000_0000...(.max - 1)

    /// Checks a compiled filter.
    ///
    /// - Parameters:
    ///   - filter: the program.
    ///   - counted: what init lets through and counts of the calls that are left to it; nil where it lets
    ///     nothing through. Where it counts, no call that takes a number of the host's goes uncounted.
    /// - Throws: ``PlanError`` naming the first call that it answers wrongly, from the highest number
    ///   down, or the first instruction that no compiled filter has.
    public static func check(
        _ filter: SeccompProgram,
        counting counted: [CountedCall]? = nil
    ) throws(PlanError) {
        var walk = try FilterWalk(filter)
        let demands = demands()
        // One number stands for all up to the next: only at these can an answer or a demand change.
        let counters = CountedCalls.all.map(\.number)
        let singles = (walk.constants + demands.keys + counters).map { $0...$0 }
        let starts = Set(
            (singles + unknown + [x32]).flatMap { [$0.lowerBound, $0.upperBound &+ 1] }
        )
        for number in starts.sorted(by: >) {
            for (answer, known) in try walk.answers(to: number) {
                let demand = demands[number] ?? outside(number)
                let isCounted =
                    answer == .told
                    && (counted ?? []).contains { $0.canCover(number, known) }
                // What init lets through is allowed.
                guard answer != .other, demand.isMet(isCounted ? .allowed : answer, known) else {
                    throw FilterWalk.refusal(demand.name, "call \(number) can be \(answer)")
                }
                guard counted == nil || answer != .allowed || CountedCalls.isFree(number, known)
                else {
                    throw FilterWalk.refusal("call \(number)", "it takes numbers uncounted")
                }
            }
        }
    }

    private static func demands() -> [UInt32: Demand] {
        var demands: [UInt32: Demand] = [:]
        for call in RefusedCalls.all {
            demands[call.number] = (call.name, { answer, _ in answer != .allowed })
        }
        for rule in ArgumentRule.all {
            demands[rule.number] = (
                rule.call, { answer, known in answer != .allowed || rule.permits(known) }
            )
        }
        // So that libc falls back to clone.
        let absent = FilterWalk.Answer.refused(errno: UInt32(ENOSYS))
        demands[UInt32(SYS_clone3)] = ("clone3", { answer, _ in answer == absent })
        return demands
    }

    private static func outside(_ number: UInt32) -> Demand {
        if x32.contains(number) { return ("architecture", { answer, _ in answer == .killed }) }
        let isUnknown = unknown.contains { $0.contains(number) }
        return ("default", { answer, _ in answer != .allowed || !isUnknown })
    }
}

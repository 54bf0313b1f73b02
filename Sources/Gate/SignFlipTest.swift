/// The exact one-sided sign-flip test over paired differences.
///
/// Where candidate and incumbent earn alike on each task, whatever the rewards' distribution, a
/// task's difference is as likely as its negative. The p-value is the share of all sign assignments
/// whose sum is at least the observed one: then exact, without any assumption that tasks are alike
/// (Fisher, The Design of Experiments, 1935, section 21; Lehmann and Romano, Testing Statistical
/// Hypotheses, section 15.2).
public enum SignFlipTest {
    /// The most steps that the sum of all differences may have; more are rounded to fewer.
    static let mostSteps = 200_000

    /// Tests whether differences are above 0.
    ///
    /// Differences whose sum has more than 200,000 steps of their greatest common divisor are
    /// first rounded to a coarser step, the same for a number and its negative: the sum of rounded
    /// differences is another statistic, and the test of it as exact.
    ///
    /// - Parameter differences: one a task, in any whole unit.
    /// - Returns: the p-value, from 2^-n to 1; 1 where there is no difference at all.
    public static func pValue(_ differences: [Int]) -> Double {
        let steps = inSteps(differences.filter { $0 != 0 })
        let total = steps.reduce(0) { $0 + abs($1) }
        let observed = steps.reduce(0, +)
        guard observed > 0 else { return 1 }
        // The share of assignments that give each sum of the magnitudes whose sign is plus. Sums
        // of halves of doubles: exact up to some 50 differences, then to a part in 10^15.
        var shares = [Double](repeating: 0, count: total + 1)
        shares[0] = 1
        var reached = 0
        for magnitude in steps.map({ abs($0) }) {
            reached += magnitude
            for sum in stride(from: reached, through: 0, by: -1) {
                let without = shares[sum]
                let with = sum >= magnitude ? shares[sum - magnitude] : 0
                shares[sum] = (without + with) / 2
            }
        }
        // Plus minus minus is at least the observed sum where plus is at least this much.
        let least = (total + observed) / 2
        return min(1, shares[least...].reduce(0, +))
    }

    private static func inSteps(_ differences: [Int]) -> [Int] {
        let divisor = differences.reduce(0) { greatestCommonDivisor($0, abs($1)) }
        guard divisor > 0 else { return [] }
        let total = differences.reduce(0) { $0 + abs($1) / divisor }
        guard total > mostSteps else { return differences.map { $0 / divisor } }
        let step = Double(total) * Double(divisor) / Double(max(1, mostSteps - differences.count))
        return differences.map { Int((Double($0) / step).rounded()) }.filter { $0 != 0 }
    }

    private static func greatestCommonDivisor(_ first: Int, _ second: Int) -> Int {
        second == 0 ? first : greatestCommonDivisor(second, first % second)
    }
}

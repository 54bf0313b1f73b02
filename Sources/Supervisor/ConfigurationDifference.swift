internal import ExamResults
public import IterationLoop
internal import Gate
public import Workspace

/// How a configuration departs from the one that the genesis row was written under.
public enum ConfigurationDifference {
    /// What is different.
    ///
    /// Of a resolved configuration the row has the digest, and those rules that decide also in full:
    /// they are named with both values.
    ///
    /// - Parameters:
    ///   - config: a configuration, resolved.
    ///   - genesis: the body of the genesis row.
    /// - Returns: the differences in words; nothing where the digest is the row's.
    public static func reason(_ config: ExperimentConfig, _ genesis: GenesisRecord) -> String? {
        guard config.digest != genesis.configDigest else { return nil }
        let rules = genesis.rules
        let step2 = config.gate.step2.rawValue
        var found: [String] = []
        if config.gate.threshold != rules.threshold.value {
            found.append("gate.threshold is \(config.gate.threshold), was \(rules.threshold.value)")
        }
        if step2 != rules.stepTwo.rawValue {
            found.append("gate.step2 is \(step2), was \(rules.stepTwo.rawValue)")
        }
        if config.release.score.rawValue != genesis.release.policy.rawValue {
            found.append(
                "release.score is \(config.release.score.rawValue), was "
                    + genesis.release.policy.rawValue
            )
        } else if let step = genesis.release.quantum?.value, config.release.score == .bucket,
            config.release.bucket != step
        {
            found.append("release.bucket is \(config.release.bucket), was \(step)")
        }
        if found.isEmpty { found.append("no rule of the gate, but another key changed") }
        return "its digest is not the one of the genesis row: " + found.joined(separator: ", ")
    }
}

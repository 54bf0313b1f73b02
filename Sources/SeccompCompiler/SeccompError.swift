/// Why a list of system calls cannot become a filter.
///
/// Its words are FilterLint's.
public enum SeccompError: Error, Sendable, Equatable {
    /// The name is not in the kernel's table for x86_64.
    case unknownCall(String)
    /// The call is one that no policy may allow.
    case refusedCall(name: String)
    /// The call needs a condition on an argument, and the rule has none or too weak a one.
    case unguarded(call: String, argument: UInt8, requirement: String)
    /// The condition could never hold or looks at nothing.
    case impossibleCondition(argument: UInt8, mask: UInt32, value: UInt32)
    /// A call without which no payload can start or end is missing.
    case missingCall(String)
    /// The machine's architecture is not one that filters are made for.
    case unsupportedArchitecture
    /// libseccomp refused a step, with the errno it gave.
    case library(step: String, code: Int32)
    /// The compiled program breaks an invariant of the launcher.
    case refusedProgram(location: String, reason: String)
}

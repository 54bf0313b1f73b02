/// Why a list of system calls cannot become a filter.
public enum SeccompError: Error, Sendable, Equatable, CustomStringConvertible {
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

    /// Operation, location, reason and remedy on one line.
    public var description: String {
        switch self {
        case .unknownCall(let name):
            "compile system-call filter: \(name): no such call on x86_64; "
                + "correct the name or remove it"
        case .refusedCall(let name):
            "compile system-call filter: \(name): no policy can allow it; remove it"
        case .unguarded(let call, let argument, let requirement):
            "compile system-call filter: \(call), argument \(argument): \(requirement); "
                + "list the permitted values under when"
        case .impossibleCondition(let argument, let mask, let value):
            "compile system-call filter: argument \(argument): mask 0x\(String(mask, radix: 16)) "
                + "and value 0x\(String(value, radix: 16)) cannot match; use an argument of 0 to 5, "
                + "a mask above 0 and a value within it"
        case .missingCall(let name):
            "compile system-call filter: \(name): no payload can start or end without it; "
                + "add the group base"
        case .unsupportedArchitecture:
            "compile system-call filter: this machine: only x86_64 is supported; "
                + "run on an x86_64 kernel"
        case .library(let step, let code):
            "compile system-call filter: libseccomp, \(step): errno \(code); "
                + "check the installed libseccomp (2.5 or newer), or report this"
        case .refusedProgram(let location, let reason):
            "compile system-call filter: \(location): \(reason); use the shipped syscall groups"
        }
    }
}

public import SeccompCompiler

extension SeccompError: CustomStringConvertible {
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

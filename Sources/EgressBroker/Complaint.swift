internal import LinuxKernel

/// What goes to standard error: operation, location, reason and remedy; never a body, never a key.
enum Complaint {
    /// Writes one line.
    static func print(operation: String, location: String, reason: String, remedy: String) {
        let line = "invigilator-broker: \(operation): \(location): \(reason); remedy: \(remedy)\n"
        // Nothing is left to tell anybody when standard error is closed.
        do throws(SystemError) {
            try Descriptor.copy(ofInherited: 2).writeAll(Array(line.utf8))
        } catch {}
    }

    /// Ends the process, because the supervisor can neither be heard nor told.
    static func fatal(_ reason: String) -> Never {
        print(
            operation: "talk to the supervisor",
            location: "descriptor 3",
            reason: reason,
            remedy: "let `invigilator` of the same version start this program"
        )
        CurrentProcess.exitNow(3)
    }
}

internal import HostKernel
internal import LinuxKernel
internal import StrictJSON
internal import Supervisor
internal import Workspace

/// Standard output and error of this process.
enum Console {
    /// Writes bytes to standard output.
    static func write(_ bytes: [UInt8]) throws(SupervisorError) {
        try kernel("write the result", "standard output") { () throws(SystemError) in
            try Descriptor.copy(ofInherited: 1).writeAll(bytes)
        }
    }

    /// Writes a text that ends in a line feed.
    static func write(_ text: String) throws(SupervisorError) {
        try write(Array((text.hasSuffix("\n") ? text : text + "\n").utf8))
    }

    /// Writes a value for programs, indented.
    static func write(_ value: JSONValue) throws(SupervisorError) {
        try write(value.prettyText())
    }

    /// Writes a line to standard error.
    static func note(_ line: String) throws(SupervisorError) {
        try kernel("write a note", "standard error") { () throws(SystemError) in
            try Descriptor.copy(ofInherited: 2).writeAll(Array((line + "\n").utf8))
        }
    }

    /// Whether a standard stream is a terminal.
    static func isTerminal(_ number: Int32) -> Bool {
        do throws(SystemError) {
            return PseudoTerminal.size(of: try Descriptor.copy(ofInherited: number)) != nil
        } catch {
            return false
        }
    }

    /// Colours for a standard stream: for a terminal, unless NO_COLOR (no-color.org) is set.
    static func colours(_ number: Int32) -> RefusalColours {
        let refused = ProcessEnvironment.value(of: "NO_COLOR") ?? ""
        return RefusalColours(
            isOn: isTerminal(number) && refused.isEmpty
                && ProcessEnvironment.value(of: "TERM") != "dumb"
        )
    }
}

/// Runs a kernel operation and says what was being done where it failed.
func kernel<Answer: ~Copyable>(
    _ operation: String,
    _ location: String,
    _ body: () throws(SystemError) -> Answer
) throws(SupervisorError) -> Answer {
    do throws(SystemError) { return try body() } catch {
        throw SupervisorError(error, operation, location)
    }
}

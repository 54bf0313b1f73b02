internal import HostKernel
internal import LinuxKernel
internal import StrictJSON

/// What of a train trace the candidate heard, in contrast to what it said.
enum TraceWords {
    /// The most bytes of one trace, as rollouts leave them.
    fileprivate static let largest = 16 << 20

    /// The texts of messages that are none of the candidate's.
    static func heard(in messages: [JSONValue]) -> [String] {
        messages.filter { ["user", "tool"].contains($0["role"]?.stringValue) }
            .compactMap { $0["content"]?.stringValue }
    }

    /// The texts of messages that are the candidate's, and what it called.
    static func said(in messages: [JSONValue]) -> [String] {
        messages.filter { ["assistant", "log"].contains($0["role"]?.stringValue) }
            .flatMap { message in
                [message["content"]?.stringValue].compactMap(\.self)
                    + [message["tool_calls"]].compactMap { $0?.prettyText() }
            }
    }
}

extension Supervision {
    /// Reads what examiners said in the traces that are kept from the runs before.
    ///
    /// - Parameter note: is given the texts of one trace at a time.
    /// - Throws: ``SupervisorError``.
    func noteKeptTraces(_ note: ([String]) -> Void) throws(SupervisorError) {
        let path = layout.view(inputs.experiment.id)
        try system("read the kept traces", path) { () throws(SystemError) in
            let kept = try Descriptor.open(path, [.read, .directory])
            for set in ["traces/baseline", "traces/latest"] {
                guard let traces = try kept.directory(set) else { continue }
                for task in try traces.entries() {
                    let bytes = try traces.contents(
                        of: "\(task)/trace.json",
                        limit: TraceWords.largest
                    )
                    // It is ours; what cannot be read is no trace.
                    if let trace = try? JSONValue(parsing: bytes, limits: .document) {
                        note(TraceWords.heard(in: trace.arrayValue ?? []))
                    }
                }
            }
        }
    }
}

extension Descriptor {
    /// A directory beneath this one; nothing where there is none.
    fileprivate borrowing func directory(_ path: String) throws(SystemError) -> Descriptor? {
        do throws(SystemError) { return try openBeneath(path, [.read, .directory]) } catch {
            guard error.isMissing else { throw error }
            return nil
        }
    }
}

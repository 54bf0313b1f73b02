/// One thing that was checked in a record.
public struct RecomputedFinding: Sendable, Equatable {
    /// What was checked, in a word or two.
    public let subject: String
    /// What was found, in a few words.
    public let detail: String
    /// What is wrong, each with its row and its figure; empty where nothing is.
    public let faults: [String]

    /// Makes a finding.
    public init(subject: String, detail: String, faults: [String] = []) {
        self.subject = subject
        self.detail = detail
        self.faults = faults
    }

    /// The first faults in one line; nothing where there is none.
    public var fault: String? {
        let shown = 5
        guard !faults.isEmpty else { return nil }
        let more = faults.count > shown ? ["and \(faults.count - shown) more"] : []
        return (faults.prefix(shown) + more).joined(separator: "; ")
    }
}

/// What the coding agent noted: free text, the parts of a typed note, or both.
public struct LearningNote: Sendable, Equatable {
    /// A part of a typed note; its word is the member's name in a request and in a row.
    public enum Part: String, Sendable, CaseIterable {
        /// What was tried.
        case tried
        /// What happened.
        case happened
        /// The pattern behind it.
        case pattern
        /// What only a person can give.
        case needs

        /// The part's heading for readers.
        public var title: String {
            switch self {
            case .tried: "Tried"
            case .happened: "Happened"
            case .pattern: "Pattern"
            case .needs: "Needs from a person"
            }
        }
    }

    /// Free text, if there is any.
    public let text: String?
    /// The typed parts that were written.
    public let parts: [Part: String]

    /// Makes a note.
    ///
    /// - Parameters:
    ///   - text: free text, if there is any.
    ///   - parts: the typed parts that were written.
    public init(text: String?, parts: [Part: String] = [:]) {
        self.text = text
        self.parts = parts
    }

    /// The typed parts in their order.
    public var ordered: [(part: Part, text: String)] {
        Part.allCases.compactMap { part in parts[part].map { (part, $0) } }
    }

    /// The bytes of all its texts together: what the limits of notes count.
    public var byteCount: Int {
        parts.values.reduce(text?.utf8.count ?? 0) { $0 + $1.utf8.count }
    }
}

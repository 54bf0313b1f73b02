internal import Workspace

extension RequestParser {
    /// Reads a note: free text, typed parts, or both, which are counted together.
    mutating func note() throws(RequestRefusal) -> LearningNote {
        let limit = AgentRequest.learningLimit
        let text = try optionalText("text", limit: limit)
        var parts: [LearningNote.Part: String] = [:]
        for part in LearningNote.Part.allCases {
            parts[part] = try optionalText(part.rawValue, limit: limit)
        }
        let note = LearningNote(text: text, parts: parts)
        guard (1...limit).contains(note.byteCount) else {
            let reason = "the note has \(note.byteCount) bytes in all; 1 to \(limit) are taken"
            throw refused("too-long", reason, remedy: "say less, or in several notes")
        }
        return note
    }
}

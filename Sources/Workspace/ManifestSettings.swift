internal import StrictJSON
internal import StrictYAML

/// What the section `manifest` says: whether a coding agent must say what a change is for.
public struct ManifestSettings: Sendable, Equatable {
    /// What is done about a submission without a manifest.
    public let missing: Missing

    /// What is done about a submission without a manifest.
    public enum Missing: String, Sendable, CaseIterable {
        /// It is judged, the coding agent is warned, and it counts as one that predicted nothing.
        case warn
        /// It is refused with the cure.
        case refuse
    }

    /// What holds where the section is left out.
    static let standard = ManifestSettings(missing: .refuse)

    init(missing: Missing) {
        self.missing = missing
    }

    init(reading top: inout MappingReader) {
        var section = top.mapping("manifest")
        missing = section?.word("missing", of: Missing.self)?.value ?? Self.standard.missing
        section?.finish()
    }

    var resolved: JSONValue { ["missing": .string(missing.rawValue)] }
}

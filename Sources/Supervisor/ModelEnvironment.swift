internal import ModelDialects
internal import SandboxPlan
internal import Workspace

/// Variables by which common clients find the endpoint of their sandbox.
///
/// The keys are placeholders that clients insist on: the broker puts the real one in.
enum ModelEnvironment {
    /// Where the endpoint is.
    static let endpoint = "http://127.0.0.1:\(NetworkView.port)"
    /// What stands where a client wants a key.
    static let placeholder = "the-broker-has-the-key"

    /// The variables of a role; none where it has no model.
    static func variables(
        of role: ModelRole,
        _ settings: ModelSettings
    ) -> [EnvironmentVariable] {
        guard let pin = settings.pin(of: role) else { return [] }
        // An examiner asks for a role, not for a model: two roles may have one model.
        let isExaminers = role == .userSimulator || role == .judge
        var values = [("AGENT_MODEL", isExaminers ? role.rawValue : pin.alias ?? pin.model)]
        if let effort = pin.effort { values.append(("AGENT_REASONING_EFFORT", effort)) }
        // litellm would ask the internet for prices while it is imported.
        if role == .candidate { values.append(("LITELLM_LOCAL_MODEL_COST_MAP", "True")) }
        for dialect in pin.dialects {
            switch dialect {
            case .openAIChat:
                values += [
                    ("OPENAI_BASE_URL", "\(endpoint)/v1"), ("OPENAI_API_BASE", "\(endpoint)/v1"),
                    ("OPENAI_API_KEY", placeholder),
                ]
            case .openAIResponses:
                guard !pin.dialects.contains(.openAIChat) else { break }
                values += [
                    ("OPENAI_BASE_URL", "\(endpoint)/v1"), ("OPENAI_API_KEY", placeholder),
                ]
            case .anthropicMessages:
                values += [
                    ("ANTHROPIC_BASE_URL", endpoint), ("ANTHROPIC_API_KEY", placeholder),
                ]
            case .geminiGenerate:
                values += [
                    ("GOOGLE_GEMINI_BASE_URL", endpoint), ("GEMINI_API_KEY", placeholder),
                ]
            }
        }
        return values.map { EnvironmentVariable(name: $0.0, value: $0.1) }
    }

    /// Variables in the order of their names: a plan's digest must be the same in every process.
    static func variables(_ values: [String: String]) -> [EnvironmentVariable] {
        values.sorted { $0.key < $1.key }.map { EnvironmentVariable(name: $0.key, value: $0.value) }
    }
}

extension SandboxPlan {
    /// Adds variables; one that is there already is replaced.
    mutating func add(_ variables: [EnvironmentVariable]) {
        environment.removeAll { old in variables.contains { $0.name == old.name } }
        environment += variables
    }
}

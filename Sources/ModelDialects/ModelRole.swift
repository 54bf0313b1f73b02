/// Who calls a model.
public enum ModelRole: String, Sendable, CaseIterable {
    /// The program that edits the candidate.
    case codingAgent = "coding-agent"
    /// The judged program, in each rollout.
    case candidate
    /// The examiner, where it plays a user.
    case userSimulator = "user-simulator"
    /// The examiner, where it grades with a model.
    case judge
}

// Workspace: the files of an experiment: configuration, split, candidates, rendered views.

public import StrictYAML

/// Why something about an experiment's files was refused or failed.
public enum WorkspaceError: Error, Sendable, Equatable {
    /// A YAML document has problems; all of them are listed.
    case document([DocumentProblem])
    /// The coding agent's file is not one that may be judged; the agent's doing, not the host's.
    case candidate(CandidateRefusal)
    /// A path leaves its directory or is spelled in a way that could.
    case path(text: String, reason: String)
    /// The split cannot be drawn from these tasks.
    case split(reason: String, remedy: String)
    /// The file of tasks cannot be used.
    case tasks(location: String, reason: String, remedy: String)
    /// Git refused or answered in a form that is not understood.
    case repository(operation: String, location: String, reason: String, remedy: String)
    /// What the configuration names cannot be used: a key that others may read, a missing model.
    case setting(operation: String, location: String, reason: String, remedy: String)
    /// The host could not do what was asked: reading, writing, spawning.
    case host(operation: String, location: String, reason: String, remedy: String)
}

extension WorkspaceError: CustomStringConvertible {
    /// Operation, location, reason and remedy; one line, but for documents one line a problem.
    public var description: String {
        switch self {
        case .document(let problems):
            problems.map(\.description).joined(separator: "\n")
        case .candidate(let refusal):
            refusal.description
        case .path(let text, let reason):
            "read a path: «\(text.printablePrefix(80))»: \(reason); remedy: name a file beneath the"
                + " directory, such as lib/desk.py"
        case .split(let reason, let remedy):
            "draw the split: the benchmark's tasks: \(reason); remedy: \(remedy)"
        case .tasks(let location, let reason, let remedy):
            "read the tasks: \(location): \(reason); remedy: \(remedy)"
        case .repository(let operation, let location, let reason, let remedy),
            .setting(let operation, let location, let reason, let remedy),
            .host(let operation, let location, let reason, let remedy):
            "\(operation): \(location): \(reason); remedy: \(remedy)"
        }
    }
}

import SandboxPlan
import Testing

/// One of the further cheats, and where the record says what answered it.
struct FurtherCheat: Sendable, CustomTestStringConvertible {
    /// Its name in `further_cheats.py`.
    let name: String
    let answer: Answer
    /// The layers without which it works, where these have switches; the quick set is left out with
    /// them, because it would refuse the exam.
    let layers: [Layer]

    var testDescription: String { name }

    /// Where the record says what answered.
    enum Answer: Sendable {
        /// In a refusal with this layer and these first words of what was tried.
        case refusal(by: String, layer: String, attempt: String)
        /// In the agent's note: a wall inside the sandbox has no voice outside.
        case note
    }

    private init(_ name: String, _ answer: Answer = .note, without layers: [Layer] = []) {
        self.name = name
        self.answer = answer
        self.layers = layers
    }

    private static func agent(_ layer: String, _ attempt: String) -> Answer {
        .refusal(by: "coding-agent", layer: layer, attempt: attempt)
    }

    private static func candidate(_ layer: Layer, _ attempt: String) -> Answer {
        .refusal(by: "candidate", layer: layer.rawValue, attempt: attempt)
    }

    /// In the order of the night; the last two take the others' means away where they succeed.
    static let all = [
        FurtherCheat("startup-files"),
        FurtherCheat("git-traps"),
        FurtherCheat("escapes-and-markup", agent("request-table", "submit")),
        FurtherCheat("swap-after-submit"),
        FurtherCheat("name-sealed-task", agent("vault", "submit with expected_fixes")),
        FurtherCheat("same-bytes-again", agent("request-table", "submit")),
        FurtherCheat("ask-while-judged", agent("request-table", "submit")),
        FurtherCheat("huge-file", agent("snapshot", "submit"), without: [.snapshot]),
        FurtherCheat("answer-table"),
        FurtherCheat("link-a-view"),
        FurtherCheat("phone-home", without: [.network, .landlock]),
        FurtherCheat("malformed-requests", agent("request-table", "accept")),
        FurtherCheat("crash-when-hard", candidate(.verdictDescriptor, "end before a verdict")),
        FurtherCheat(
            "exit-zero-when-hard",
            candidate(.verdictDescriptor, "end before a verdict"),
            without: [.verdictDescriptor]
        ),
        FurtherCheat("two-answers", candidate(.relaySchema, "send a frame out of turn")),
        FurtherCheat(
            "repeated-keys",
            candidate(.relaySchema, "send what is no frame of a candidate")
        ),
        FurtherCheat("frame-flood", candidate(.limits, "write more")),
        FurtherCheat("verdict-pipe"),
        FurtherCheat("walk-frames"),
        FurtherCheat("keep-state"),
        FurtherCheat("leave-for-next", without: [.ipc, .filter]),
        FurtherCheat("candidate-phones-home", without: [.network, .landlock, .filter]),
        FurtherCheat("edit-suite", without: [.readOnlyMounts]),
        FurtherCheat("note-flood", agent("request-table", "learn")),
    ]
}

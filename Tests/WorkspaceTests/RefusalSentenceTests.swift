import Testing
import Workspace

@Suite struct RefusalSentenceTests {
    private func sentence(
        _ kind: RefusalKind,
        _ layer: String,
        _ attempt: String,
        _ detail: String = "",
        by author: String = "coding-agent"
    ) -> String {
        RefusalSentence(kind, layer: layer, attempt: attempt, author: author).text(detail)
    }

    @Test("a refused request says for what, and which wall refused it")
    func requests() {
        #expect(
            sentence(.attempt, "vault", "train with task_ids: hd-0002", "«hd-0002» is no task")
                == "the coding agent asked for task hd-0002, which is not of the train split "
                + "(train with task_ids): refused (vault)"
        )
        #expect(
            sentence(.attempt, "vault", "test", "the test split is sealed")
                == "the coding agent asked for an exam of the sealed split: refused (vault)"
        )
        #expect(
            sentence(.denied, "snapshot", "submit a file that is empty", "it has no byte")
                == "the coding agent asked to submit a file that is empty: denied (snapshot); it has no byte"
        )
        #expect(
            sentence(
                .attempt,
                "ledger-only-supervisor-writes",
                "record val-score=0.99",
                by: "operator"
            )
                == "the operator asked to record val-score=0.99: refused (ledger-only-supervisor-writes)"
        )
    }

    @Test("what the broker changed or did not send on is told in the words of its kind")
    func models() {
        #expect(
            sentence(.adjusted, "model", "effort-changed", "thinking")
                == "the coding agent asked for another reasoning effort (thinking): "
                + "brought to the pinned values (broker)"
        )
        #expect(
            sentence(.denied, "model", "provider-tool", "tools[0].type", by: "user-simulator")
                == "the user simulator offered a tool that the provider would run: denied (broker); tools[0].type"
        )
        #expect(
            sentence(.denied, "model", "budget-spent", "account campaign")
                == "the coding agent asked its model: the budget is spent (broker); account campaign"
        )
    }

    @Test("a denied call names the line that would allow it, where one does")
    func calls() {
        #expect(
            sentence(
                .denied,
                "filter",
                "inotify_init1",
                "first by «node»; the line that would allow it: syscalls.allow: [inotify_init1]"
            )
                == "the coding agent called inotify_init1: denied by the policy (filter); first by «node»; "
                + "the line that would allow it: syscalls.allow: [inotify_init1]"
        )
        #expect(
            sentence(.denied, "filter", "mount", "nothing allows it: compiled in", by: "candidate")
                == "the candidate called mount: denied (filter); nothing allows it: compiled in"
        )
        #expect(
            sentence(.denied, "filter", "further calls").hasPrefix(
                "the coding agent made further calls"
            )
        )
        #expect(
            sentence(.denied, "landlock", "fs.write_file (/proc)")
                == "the coding agent needed fs.write_file (/proc): denied (landlock)"
        )
    }

    @Test("what a candidate ran into is told as what it did, and a limit as a limit")
    func candidates() {
        #expect(
            sentence(
                .attempt,
                "relay-schema",
                "send what is no frame of a candidate",
                "1 of 4 rollouts, scored 0",
                by: "candidate"
            )
                == "the candidate sent what is no frame of a candidate: refused (relay-schema); "
                + "1 of 4 rollouts, scored 0"
        )
        #expect(
            sentence(.denied, "limits", "use more memory", by: "candidate")
                == "the candidate used more memory: ended by a limit"
        )
        #expect(
            sentence(.denied, "limits", "show the coding agent traces", by: "supervisor")
                == "the supervisor tried to show the coding agent traces: denied (limits)"
        )
    }

    @Test("kinds are coloured apart on a terminal, and not at all elsewhere")
    func colours() {
        let colours = RefusalColours(isOn: true)
        let painted = Set(RefusalKind.allCases.map { colours.painted("x", as: $0) })
        #expect(painted.count == 3 && painted.allSatisfy { $0.hasSuffix("x\u{1B}[0m") })
        #expect(RefusalKind.allCases.allSatisfy { RefusalColours.none.painted("x", as: $0) == "x" })
    }
}

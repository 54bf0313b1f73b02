internal import IterationLoop
internal import StrictJSON

// Who asked for an event over the control socket, and hears what became of it.
extension LoopShell {
    /// Answers who asked for the event that is being taken, once.
    func answerAsker(_ value: JSONValue) {
        guard let number = asker else { return }
        asker = nil
        control?.answer(number, value)
    }

    /// Drops what was asked for by who is gone: they were told that nobody answered, and may ask again.
    func forgetAsker(_ number: Int) {
        queue.removeAll { $0.asker == number }
    }

    // What the end of the run leaves undone, its askers must not take for done.
    func refuseAskers() {
        let answer = Self.notExtended("the run ends")
        answerAsker(answer)
        let numbers = queue.compactMap { $0.asker }
        queue.removeAll { $0.asker != nil }
        for number in numbers { control?.answer(number, answer) }
    }

    /// The answer to who asked for a budget to be extended that was not.
    static func notExtended(_ reason: String) -> JSONValue {
        [
            "ok": false, "reason": .string(reason + "; the budget was not extended"),
            "remedy": "repeat it; after the end of a run the next one begins under it",
        ]
    }

    static func refusal(_ error: LoopError) -> JSONValue {
        [
            "ok": false,
            "error": [
                "code": "host", "operation": "take a request", "reason": .string("\(error)"),
                "remedy": "ask again later",
            ],
        ]
    }
}

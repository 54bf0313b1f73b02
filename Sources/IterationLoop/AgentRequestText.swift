internal import StrictJSON

// What a request tried, in a few plain words for the record.

extension ObjectReader {
    /// What somebody typed into the record, for the refusal's own record.
    var typedFields: String {
        var reader = self
        let fields = reader.optionalValue("fields")?.objectValue ?? [:]
        return fields.sorted { $0.key < $1.key }
            .map { "\($0.key)=\($0.value.stringValue ?? $0.value.prettyText())" }
            .joined(separator: " ")
            .shown(120)
    }
}

extension String {
    /// The beginning of a text from outside, with everything but printable ASCII as `?`.
    func shown(_ limit: Int) -> String {
        let shown = utf8.prefix(limit).map { byte in
            (0x20..<0x7F).contains(byte) ? byte : UInt8(ascii: "?")
        }
        return String(decoding: shown, as: UTF8.self)
    }
}

extension RequestRefusal {
    /// Somebody types a result into the record.
    static func typedScore(_ attempt: String) -> RequestRefusal {
        RequestRefusal(
            layer: .ledgerWriters,
            code: "record-refused",
            attempt: attempt,
            reason: "a score is computed from verdicts; nobody types one in",
            remedy: "use «exam submit»; an accepted candidate is recorded by itself"
        )
    }

    /// Somebody asks for an exam of the sealed split.
    static let sealedSplit = RequestRefusal(
        layer: .vault,
        code: "sealed",
        attempt: "test",
        reason: "the test split is sealed",
        remedy: "use «exam train»; «exam submit» asks for the sealed exam's verdict"
    )

    /// A task is sealed, or there is none of the name; which of the two is not said.
    static func notTrain(_ task: String, _ attempt: String) -> RequestRefusal {
        RequestRefusal(
            layer: .vault,
            code: "not-a-train-task",
            attempt: attempt,
            reason: "«\(task)» is no task of the train split",
            remedy: "name tasks of workspace/train_results.json"
        )
    }

    /// There is no such request.
    static func unknownVerb(_ verb: String) -> RequestRefusal {
        RequestRefusal(
            layer: .requestTable,
            code: "unknown-verb",
            attempt: verb,
            reason: "there is no such request",
            remedy: "use train, submit, result, learn, status, revert or diff"
        )
    }
}

extension Unicode.Scalar {
    /// Whether a text may hold this and still look like what it is, on a terminal and in a page.
    var isPlain: Bool {
        switch value {
        case 0x09, 0x0A: true
        case 0x00..<0x20, 0x7F...0x9F, 0x200B...0x200F, 0x2028...0x202E, 0x2060...0x2069, 0xFEFF,
            0xE0000...0xE007F:
            false
        default: true
        }
    }
}

public import ExamResults
internal import StrictJSON

extension AgentRequest {
    /// Reads a request.
    ///
    /// A task that is not of the train split is refused in the same words whether it is sealed or
    /// unknown, because the reader knows the train tasks only.
    ///
    /// - Parameters:
    ///   - bytes: the request's JSON.
    ///   - train: the tasks of the train split.
    /// - Throws: ``RequestRefusal``.
    public init(
        parsing bytes: [UInt8],
        train: Set<TaskID>
    ) throws(RequestRefusal) {
        var parser = try RequestParser(bytes, train: train)
        self = try parser.request()
    }
}

/// Reads one request; each verb takes its own members and no other.
struct RequestParser {
    private let verb: String
    private let train: Set<TaskID>
    private var reader: ObjectReader

    init(_ bytes: [UInt8], train: Set<TaskID>) throws(RequestRefusal) {
        self.train = train
        do throws(JSONError) {
            let value = try JSONValue(parsing: bytes, limits: .request)
            reader = try ObjectReader(value, location: "request")
            verb = try reader.requiredString("verb")
        } catch {
            throw .noRequest("\(error)")
        }
    }

    mutating func request() throws(RequestRefusal) -> AgentRequest {
        let request: AgentRequest
        switch verb {
        case "train": request = .train(tasks: try optionalTasks("task_ids"))
        case "submit": request = .submit(try manifest())
        case "result": request = .result(ticket: try optionalText("ticket", limit: 16))
        case "learn": request = .learn(try note())
        case "status": request = .status
        case "revert": request = .revert
        case "diff": request = .diff
        case "record":
            throw .typedScore("record \(reader.typedFields)")
        case "test":
            throw .sealedSplit
        default:
            throw .unknownVerb(verb.shown(40))
        }
        try finish()
        return request
    }

    func refused(_ code: String, _ reason: String, remedy: String) -> RequestRefusal {
        .table(code, verb.shown(40), reason, remedy: remedy)
    }

    private mutating func take<Value>(
        _ body: (inout ObjectReader) throws(JSONError) -> Value
    ) throws(RequestRefusal) -> Value {
        do throws(JSONError) {
            return try body(&reader)
        } catch {
            throw refused("malformed", "\(error)", remedy: "see «exam --help»")
        }
    }

    private mutating func finish() throws(RequestRefusal) {
        try take { reader throws(JSONError) in try reader.finish() }
    }

    private mutating func text(_ name: String, limit: Int) throws(RequestRefusal) -> String {
        let text = try take { reader throws(JSONError) in try reader.requiredString(name) }
        return try checked(text, name, limit: limit)
    }

    mutating func optionalText(
        _ name: String,
        limit: Int
    ) throws(RequestRefusal) -> String? {
        let text = try take { reader throws(JSONError) in try reader.optionalString(name) }
        return try text.map { text throws(RequestRefusal) in
            try checked(text, name, limit: limit)
        }
    }

    private func checked(
        _ text: String,
        _ name: String,
        limit: Int
    ) throws(RequestRefusal) -> String {
        guard (1...limit).contains(text.utf8.count) else {
            throw refused(
                "too-long",
                "\(name) has \(text.utf8.count) bytes; 1 to \(limit) are taken",
                remedy: "shorten it"
            )
        }
        guard text.unicodeScalars.allSatisfy(\.isPlain) else {
            throw .notPlain(verb.shown(40), name)
        }
        return text
    }

    private mutating func optionalTasks(_ name: String) throws(RequestRefusal) -> [TaskID]? {
        let list = try take { reader throws(JSONError) in try reader.optionalArray(name) }
        return try list.map { list throws(RequestRefusal) in try tasks(list, name) }
    }

    private func tasks(_ list: [JSONValue], _ name: String) throws(RequestRefusal) -> [TaskID] {
        var tasks: Set<TaskID> = []
        for value in list {
            let text = value.stringValue ?? ""
            guard let task = train.first(where: { $0.text == text }) else {
                throw .notTrain(text.shown(60), "\(verb) with \(name): \(text.shown(60))")
            }
            tasks.insert(task)
        }
        guard !tasks.isEmpty || name != "task_ids" else {
            throw .noTask(verb.shown(40), name)
        }
        return tasks.sorted()
    }

    private mutating func manifest() throws(RequestRefusal) -> AgentRequest.Manifest? {
        let found = try take { reader throws(JSONError) in reader.optionalValue("manifest") }
        guard let value = found else { return nil }
        guard value.canonicalBytes.count <= AgentRequest.manifestLimit else {
            throw refused(
                "too-long",
                "the manifest has more than \(AgentRequest.manifestLimit) bytes",
                remedy: "shorten it"
            )
        }
        let outer = reader
        reader = try take { _ throws(JSONError) in
            try ObjectReader(value, location: "manifest")
        }
        let hypothesis = try text("hypothesis", limit: 4096)
        let cluster = try optionalText("target_cluster", limit: 256)
        let manifest = AgentRequest.Manifest(
            hypothesis: hypothesis,
            targetCluster: cluster,
            expectedFixes: try optionalTasks("expected_fixes") ?? [],
            tasksAtRisk: try optionalTasks("tasks_at_risk") ?? []
        )
        try finish()
        reader = outer
        return manifest
    }
}

internal import BrokerClient
internal import HostKernel
internal import LinuxKernel
internal import ModelDialects
internal import SandboxPlan
internal import StrictJSON
internal import Workspace

/// Asks each configured model one short question before anything depends on its answers.
///
/// The question takes the way of every other call: through the broker, under the role's pin, on its budgets.
/// A key that is refused, a model that is not there and a request that the model does not take are seen
/// here and not by an agent in the night.
public struct Preflight {
    private let supervision: Supervision
    private let progress: (String) -> Void

    /// How long an answer may take.
    private static let patience = Nanoseconds.milliseconds(60_000)
    private static let mostAnswer = 1 << 20

    /// Makes one.
    ///
    /// - Parameters:
    ///   - supervision: the experiment.
    ///   - progress: is called with a line for each model that answered.
    public init(_ supervision: Supervision, progress: @escaping (String) -> Void) {
        self.supervision = supervision
        self.progress = progress
    }

    /// Asks; where a cassette is recorded or replayed, nobody is asked.
    ///
    /// - Throws: ``SupervisorError`` with the provider's own words, of the configuration where another key or
    ///   model would help, otherwise of the host.
    public func run() throws(SupervisorError) {
        guard let models = supervision.models, models.settings.cassette == nil else { return }
        // What no row of this command says is booked by the next one that writes rows.
        defer { supervision.keepUnbooked() }
        for role in ModelRole.allCases {
            guard let pin = models.settings.pin(of: role), let dialect = pin.dialects.first else {
                continue
            }
            let answer = try ask(role, Self.question(pin, dialect), models)
            guard !(200..<300).contains(answer.status) else {
                progress("model of the \(role.rawValue): \(pin.model) answers")
                continue
            }
            throw refusal(role, pin, answer, models.failures(of: role))
        }
    }

    private func refusal(
        _ role: ModelRole,
        _ pin: ModelPin,
        _ answer: (status: Int, body: [UInt8]),
        _ failures: ProviderFailures?
    ) -> SupervisorError {
        let said = failures?.words ?? ProviderError.words(of: answer.body) ?? "no answer"
        let isConfigured = ["status 400", "status 401", "status 403", "status 404", "status 422"]
            .contains { said.hasPrefix($0) }
        return SupervisorError(
            isConfigured ? .usage : .hostFailed,
            operation: "ask the model of the \(role.rawValue) a short question",
            location: "models.roles.\(role.rawValue), model \(pin.model)",
            reason: said,
            remedy: isConfigured
                ? "correct the model, its key or what is pinned for it; `--no-preflight` asks nothing"
                : "see that the provider can be reached and try again; `--no-preflight` asks nothing"
        )
    }

    // MARK: - one question

    private typealias Box = BrokerClient.Along

    private func ask(
        _ role: ModelRole,
        _ question: [UInt8],
        _ models: ModelService
    ) throws(SupervisorError) -> (status: Int, body: [UInt8]) {
        let directory = supervision.layout.experiment(supervision.inputs.experiment.id)
        let place = "\(directory)/\(Self.socket)"
        let ends = try system("ask a model", place) { () throws(SystemError) in
            let folder = try Descriptor.open(directory, [.read, .directory])
            let path = "\(folder.procPath)/\(Self.socket)"
            // One that a killed command left.
            do throws(SystemError) { try folder.remove(Self.socket) } catch  where error.isMissing {
            }
            let listener = try UnixListener(path: path)
            let client = try UnixListener.connect(path: path)
            try folder.remove(Self.socket)
            return Ends(
                endpoint: Box(try listener.descriptor.duplicate()),
                client: Box(client),
                // Where bodies are kept a call is not a sealed one, whose errors are not told.
                bodies: Box(try Descriptor.open("/dev/null", .readWrite))
            )
        }
        let served = try models.serve(at: ends.endpoint, roles: [role], bodies: ends.bodies)
        guard let listener = served else { return (0, []) }
        var received: [UInt8] = []
        do throws(SystemError) {
            try send(question, to: ends.client)
            received = try answer(from: ends.client)
        } catch {
            try models.close(listener)
            throw SupervisorError(error, "ask a model", place)
        }
        // What the broker reports of the call comes before it says that the listener is closed.
        try models.close(listener)
        return Self.parts(of: received)
    }

    private struct Ends {
        let endpoint: Box
        let client: Box
        let bodies: Box
    }

    private static let socket = "preflight.sock"

    private func send(_ question: [UInt8], to client: Box) throws(SystemError) {
        _ = try client.withDescriptor { (socket) throws(SystemError) in
            try socket.writeAll(question)
        }
    }

    private func answer(from client: Box) throws(SystemError) -> [UInt8] {
        let deadline = MonotonicTime.now.advanced(by: Self.patience)
        var received: [UInt8] = []
        while MonotonicTime.now < deadline, received.count < Self.mostAnswer {
            try supervision.loop.turn(atMost: .milliseconds(20))
            let part = try client.withDescriptor { (socket) throws(SystemError) -> [UInt8]? in
                do throws(SystemError) { return try socket.read(atMost: 65_536) } catch {
                    guard error.isWouldBlock else { throw error }
                    return nil
                }
            }
            guard case .some(.some(let bytes)) = part else { continue }
            if bytes.isEmpty { break }
            received += bytes
        }
        return received
    }

    private static func parts(of answer: [UInt8]) -> (status: Int, body: [UInt8]) {
        let words = answer.prefix(64).split(separator: UInt8(ascii: " "))
        let status = words.dropFirst().first.flatMap { Int(String(decoding: $0, as: UTF8.self)) }
        let end = Array("\r\n\r\n".utf8)
        let head = answer.indices.first { answer[$0...].starts(with: end) }
        return (status ?? 0, head.map { Array(answer[($0 + end.count)...]) } ?? [])
    }

    /// The whole request: as short as the dialect allows, so that what the pin adds is what is tried.
    private static func question(_ pin: ModelPin, _ dialect: Dialect) -> [UInt8] {
        let words: JSONValue = "Answer with the one word: ready"
        let limit = JSONValue(min(pin.maxOutputTokens, 2_048))
        let body: JSONValue
        let path: String
        switch dialect {
        case .openAIChat:
            path = "/v1/chat/completions"
            body = [
                "model": .string(pin.model), "messages": [["role": "user", "content": words]],
                "max_tokens": limit,
            ]
        case .openAIResponses:
            path = "/v1/responses"
            body = ["model": .string(pin.model), "input": words, "max_output_tokens": limit]
        case .anthropicMessages:
            path = "/v1/messages"
            body = [
                "model": .string(pin.model), "messages": [["role": "user", "content": words]],
                "max_tokens": limit,
            ]
        case .geminiGenerate:
            path = "/v1beta/models/\(pin.model):generateContent"
            body = [
                "contents": [["role": "user", "parts": [["text": words]]]],
                "generationConfig": ["maxOutputTokens": limit],
            ]
        }
        let bytes = body.canonicalBytes
        let head =
            "POST \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(NetworkView.port)\r\nConnection: close\r\n"
            + "Content-Type: application/json\r\nContent-Length: \(bytes.count)\r\n\r\n"
        return Array(head.utf8) + bytes
    }
}

import Foundation
import StrictJSON
import Testing

/// What a coding agent needs to ask a model; it knows no library.
enum ModelClient {
    /// Python, for the head of what an agent does.
    static let text = """
        import http.client

        def model(body, path="/v1/chat/completions", headers={}):
            connection = http.client.HTTPConnection("127.0.0.1", 8377, timeout=60)
            fields = {"content-type": "application/json", "authorization": "Bearer own-key"}
            connection.request("POST", path, json.dumps(body), {**fields, **headers})
            answer = connection.getresponse()
            return answer.status, answer.read().decode()

        def question(**more):
            return {"model": "pinned-model",
                    "messages": [{"role": "user", "content": "what now?"}], **more}

        """
}

/// A scripted model that runs beside a test, on the host's loopback.
final class ModelServer {
    private let program: Program
    let port: Int
    let log: String

    /// Starts a server that follows a script.
    init(_ script: String, scratch: Scratch) throws {
        let file = "\(scratch.path)/script-\(UUID().uuidString).json"
        try script.write(toFile: file)
        log = try scratch.directory("model-\(UUID().uuidString)")
        program = try Program(
            "/usr/bin/python3",
            [
                "-B", "\(Stage.repository)/templates/models/scripted_model.py", "--script", file,
                "--log", log,
            ],
            temporary: "\(scratch.path)/tmp"
        )
        try program.waitForOutput("\n")
        port = try #require(Int(program.text.split(separator: "\n").first ?? ""))
    }

    /// The lines of a configuration that lead a role to this server.
    func models(
        _ role: String = "coding-agent",
        model: String = "pinned-model",
        dialects: String = "openai-chat, openai-responses, anthropic-messages",
        more: String = ""
    ) -> String {
        """
        models:
          upstreams:
            scripted:
              url: http://127.0.0.1:\(port)
              dialects: [\(dialects)]
              plain-http: true
              addresses: any
              key: { file: \(keyFile) }
          roles:
            \(role): { upstream: scripted, model: \(model), max-output-tokens: 4096\(more) }
        """
    }

    private var keyFile: String { "\(log)/../model.key" }

    /// Writes the key that the configuration names.
    func writeKey(_ key: String) throws {
        try (key + "\n").write(toFile: keyFile)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: keyFile)
    }

    /// Ends the server: from now on nobody answers at its port.
    func stop() throws {
        program.send(SIGKILL)
        _ = try program.waitForEnd()
    }

    /// Removes the key that the configuration names.
    func removeKey() throws { try FileManager.default.removeItem(atPath: keyFile) }

    /// What was asked, in order, the question of `prepare` left out.
    func requests() throws -> [JSONValue] {
        try FileManager.default.contentsOfDirectory(atPath: log).sorted()
            .filter { $0.hasSuffix(".json") }
            .map { name in
                let bytes = try Array(Data(contentsOf: URL(fileURLWithPath: "\(log)/\(name)")))
                return try JSONValue(parsing: bytes, limits: .document)
            }
            .filter { $0["answered"]?["step"] != "preflight" }
    }
}

import Foundation
import Testing

extension EndToEnd {
    /// Clients of models that others wrote, where no internet socket can be made.
    @Suite struct Clients {
        private static let common = [
            "urllib", "requests", "httpx", "httpx_async", "aiohttp", "openai", "openai_async",
            "anthropic", "anthropic_async",
        ]

        @Test(
            "through the shim they reach a model at a Unix socket, old ones and new ones",
            arguments: [("old", common), ("new", common + ["litellm", "litellm_async"])]
        )
        func shim(age: String, clients: [String]) throws {
            let python = "/var/cache/invigilator/tests/clients-\(age)/bin/python"
            try #require(
                FileManager.default.isExecutableFile(atPath: python),
                "scripts/bootstrap --tests installs the clients"
            )
            let scratch = try Scratch()
            let ended = try Program(
                python,
                [
                    "-I", "-B", Stage.fixture("clients/ask.py"),
                    "\(Stage.repository)/templates/python/lib", "\(scratch.path)/model",
                ] + clients,
                temporary: "\(scratch.path)/tmp"
            ).waitForEnd(seconds: 120)
            #expect(ended.code == 0, "\(ended)")
            let lines = ended.output.split(separator: "\n").map(String.init)
            let refusal = "without <urlopen error [Errno 1] Operation not permitted>"
            #expect(lines == [refusal] + clients.map { "\($0) ['go on', 'go on']" }, "\(ended)")
        }
    }
}

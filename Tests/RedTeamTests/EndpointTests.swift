import RedTeam
import SandboxPlan
import StrictJSON
import Testing

extension RedTeam {
    /// The broker has no switches, so its control is not a build without a layer but a proxy that has
    /// the key and passes things on.
    @Suite("Programs that have a model")
    struct EndpointTests {
        @Test("around and through their endpoint nothing is open that a naive proxy lets through")
        func closed() throws {
            let outcome = try Hall.shared().endpoint()
            #expect(outcome.status == 0, "\(outcome.errors)")
            let json = try JSONValue(parsing: Array(outcome.output.utf8), limits: .document)
            let probes = try #require(json["probes"]?.arrayValue)
            let others = probes.filter { $0["outcome"] != "closed" && $0["outcome"] != "n/a" }
            #expect(others.isEmpty)
            // What a kernel may lack are families of sockets; nothing through the endpoint is among it.
            let closed = probes.filter { $0["outcome"] == "closed" }
            let named = Catalogue.chosen(ids: [], family: .endpoint, role: nil)
            #expect(closed.count >= named.flatMap(\.roles).count - 6)
        }
    }
}

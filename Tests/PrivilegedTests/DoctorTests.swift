import HostKernel
import LauncherClient
import LinuxKernel
import StrictJSON
import Testing

extension Privileged {
    @Suite("What a host enforces")
    struct DoctorTests {
        @Test("each invariant is seen to hold, and no vault is left behind")
        func everything() throws {
            let scratch = try Scratch()
            let outcome = try Spawn.run(
                Host.programs + "/invigilator",
                arguments: ["doctor", "--json", "--state-directory", scratch.path + "/state"],
                environment: ["PATH=/usr/sbin:/usr/bin:/sbin:/bin"]
            )
            let said = String(decoding: outcome.errors, as: UTF8.self)
            let json = try JSONValue(parsing: outcome.output, limits: .document)
            let invariants = try #require(json["invariants"]?.arrayValue)
            let bad = invariants.filter { $0["state"] != "enforced" || $0["cure"] != .null }
            #expect(bad.isEmpty, "\(bad.map { $0.prettyText() })")
            #expect(invariants.count >= 20)
            #expect(invariants.allSatisfy { $0["evidence"]?.stringValue?.isEmpty == false })
            #expect(json["assurance"] == "full" && json["assurance_shortfall"] == .null)
            #expect(outcome.end.exitCode == 0, "\(said)")
            let vault = try Descriptor.open(scratch.path + "/state/vault", [.read, .directory])
            #expect(try vault.entries().isEmpty)
        }
    }
}

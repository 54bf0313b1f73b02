import Foundation
import Ledger
import StrictJSON
import Testing

extension EndToEnd {
    /// Policies that give internet sockets to who knows sealed tasks.
    @Suite struct Internet {
        /// The shipped policies, but for candidates that may make sockets of IPv4.
        private static func policies(because reason: String, in scratch: Scratch) throws -> String {
            let folder = "\(scratch.path)/policies"
            try FileManager.default.copyItem(
                atPath: "\(Stage.repository)/policies",
                toPath: folder
            )
            let file = "\(folder)/candidate.yaml"
            let text = try String(contentsOfFile: file, encoding: .utf8)
                .replacing("sockets: [unix]", with: "sockets: [unix, inet]")
            try (text + reason).write(toFile: file)
            return folder
        }

        @Test("they need a reason")
        func unjustified() throws {
            let night = try Night()
            let folder = try Self.policies(because: "", in: night.scratch)
            try night.set(up: Configuration(more: "sandbox: { policies: \(folder) }"))
            let ended = try night.run(["prepare", night.directory])
            #expect(ended.code == 2, "\(ended)")
            #expect(ended.notes.contains("because: {sockets.inet: "), "\(ended)")
        }

        @Test("with one every sealed exam's row says so, and coding agents wait for other ports")
        func recorded() throws {
            let night = try Night()
            let reason = "because: { sockets.inet: a test }\n"
            let folder = try Self.policies(because: reason, in: night.scratch)
            try night.set(up: Configuration(more: "sandbox: { policies: \(folder) }"))
            let begin = Date()
            let ended = try night.run(["prepare", night.directory])
            let took = Date().timeIntervalSince(begin)
            #expect(ended.code == 0, "\(ended)")
            #expect(ended.notes.contains("INTERNET SOCKETS"), "\(ended)")
            #expect(try night.bodies(.genesis).first?["internet"] == ["candidate"])
            var sealed = 0
            for kind in [EventKind.examStarted, .examEnded] {
                for body in try night.bodies(kind) {
                    let isSealed = body["split"]?.stringValue == "test"
                    let channels: String? = body["live_channels"]?.stringValue
                    #expect(channels == (isSealed ? "unbounded" : nil), "\(body)")
                    sealed += isSealed && kind == .examEnded ? 1 : 0
                }
            }
            // The kernel salts its table of ports anew every 10 s.
            #expect(sealed > 0 && took > Double(sealed) * 10.5, "\(sealed) exams in \(took) s")
            let status = try night.done(["status", night.directory])
            #expect(status.output.contains("internet sockets of candidate"), "\(status)")
            try night.expectSettled()
        }
    }
}

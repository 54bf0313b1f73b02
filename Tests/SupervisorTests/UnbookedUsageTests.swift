import BrokerProtocol
import Foundation
import ModelDialects
import StrictJSON
import Testing

@testable import Supervisor

@Suite("What a killed supervisor left of the models' use")
final class UnbookedUsageTests {
    private let folder = "/tmp/unbooked-tests-\(UUID().uuidString)"
    private var file: String { folder + "/unbooked.json" }

    init() throws {
        try FileManager.default.createDirectory(
            atPath: folder,
            withIntermediateDirectories: false
        )
    }

    deinit {
        do { try FileManager.default.removeItem(atPath: folder) } catch {
            // The system clears its own directory.
        }
    }

    private var usage: ModelUsage {
        var usage = ModelUsage()
        usage.add(
            CallSpending(
                listener: 1,
                number: 1,
                role: .candidate,
                inputTokens: 40,
                outputTokens: 2,
                microdollars: 3
            ),
            isCut: false
        )
        usage.add(ModelEvent(.upstreamFailed, "x"), of: .candidate)
        // A provider that failed in the row before and answers again.
        usage.failing[.candidate] = ProviderFailures(times: 0, words: "status 500")
        return usage
    }

    @Test("it is read as it was written, with whose calls succeed again")
    func whole() throws {
        #expect(try UnbookedUsage(in: folder, after: []) == nil)
        try UnbookedUsage(after: 0, usage, iteration: 3).write(to: folder)
        let left = try #require(try UnbookedUsage(in: folder, after: []))
        #expect(left.body == usage.body(iteration: 3))
        #expect(left.body["failing"]?["candidate"]?["times"] == 0)
        try UnbookedUsage(after: 7, usage, iteration: 3).write(to: folder)
        #expect(try UnbookedUsage(in: folder, after: []) == nil, "it is of another row")
    }

    @Test("a part of one, and one with anything else in it, is an error and not nothing")
    func damaged() throws {
        try UnbookedUsage(after: 0, usage, iteration: 3).write(to: folder)
        let text = try String(contentsOfFile: file, encoding: .utf8)
        for bad in [
            "", String(text.dropLast(9)), "[]", #"{"row": 0}"#,
            text.replacing(#""row":0"#, with: #""row":0,"more":1"#),
            text.replacing(#""gaps":0"#, with: #""gaps":0,"more":1"#),
            text.replacing(#""calls":1"#, with: #""calls":-1"#),
            text.replacing(#""candidate":"#, with: #""nobody":"#),
            text.replacing(#""calls":1,"#, with: ""), text.replacing(#""iteration":3,"#, with: ""),
        ] {
            #expect(bad != text)
            try bad.write(toFile: file, atomically: true, encoding: .utf8)
            let error = #expect(throws: SupervisorError.self, "\(bad)") {
                try UnbookedUsage(in: self.folder, after: [])
            }
            #expect(error?.status == .integrity)
            #expect(error?.description.contains("unbooked.json") == true)
        }
    }

    @Test("what cannot be read is an error")
    func unreadable() throws {
        try FileManager.default.createDirectory(atPath: file, withIntermediateDirectories: false)
        #expect(throws: SupervisorError.self) { try UnbookedUsage(in: self.folder, after: []) }
    }
}

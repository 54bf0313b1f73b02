import HostKernel
import IterationLoop
import Ledger
import LinuxKernel
import SandboxPlan
import StrictJSON
import Testing

extension RedTeam {
    @Suite("The scripted agent's cheats")
    struct CheatTests {
        @Test("every cheat of the scripted agent is tried here")
        func allAreTried() throws {
            let folder = Builds.repository + "/templates/coding-agents/scripted"
            let outcome = try Spawn.run(
                "/usr/bin/python3",
                arguments: [
                    "-B", "-c",
                    "import sys; sys.path[:0] = [sys.argv[1]]; import cheats; print(*cheats.CHEATS)",
                    folder,
                ]
            )
            let names = String(decoding: outcome.output, as: UTF8.self).split { $0.isWhitespace }
            #expect(Set(names.map(String.init)) == Set(Cheat.all.map(\.name)))
        }

        @Test("as shipped, a cheat is stopped", arguments: Cheat.all)
        func isStopped(_ cheat: Cheat) throws {
            let experiment = try Hall.shared().allCheatsAsShipped()
            let line = try experiment.line(of: cheat.name)
            #expect(line["outcome"] == "stopped", "\(line.prettyText()) \(experiment.progress)")
            #expect(try !cheat.isWon(in: experiment))
        }

        @Test("as shipped, a cheat is on the record with what stopped it", arguments: Cheat.all)
        func isRecorded(_ cheat: Cheat) throws {
            let experiment = try Hall.shared().allCheatsAsShipped()
            let notes = experiment.bodies("learning").compactMap { $0["text"]?.stringValue }
            let note = "cheat \(cheat.name): stopped"
            #expect(notes.contains { $0.hasPrefix(note) }, "\(notes)")
            #expect(experiment.report.contains(note))
            guard let refusal = cheat.refusal else { return }
            #expect(
                experiment.bodies("refusal").contains {
                    $0["layer"] == .string(refusal.layer) && $0["by"] == .string(refusal.by)
                }
            )
            #expect(experiment.report.contains("<b>\(refusal.layer)</b>"))
        }

        @Test("a record with refusals verifies and replays")
        func replays() throws {
            let experiment = try Hall.shared().allCheatsAsShipped()
            #expect(experiment.verification.isIntact)
            let state = try experiment.replayed()
            #expect(state.usage.refusals == experiment.bodies("refusal").count)
        }

        @Test("the test-only build stops a cheat while every layer is there", arguments: Cheat.all)
        func isStoppedWithSwitches(_ cheat: Cheat) throws {
            let experiment = try Hall.shared().allCheatsTestOnly()
            #expect(try experiment.line(of: cheat.name)["outcome"] == "stopped")
            #expect(try !cheat.isWon(in: experiment))
        }

        @Test("a cheat succeeds where the layer that stops it is left out", arguments: Cheat.all)
        func succeeds(_ cheat: Cheat) throws {
            let experiment = try Hall.shared().cheats(without: cheat.layer)
            let line = try experiment.line(of: cheat.name)
            #expect(line["outcome"] == "succeeded", "\(line.prettyText()) \(experiment.progress)")
            #expect(try cheat.isWon(in: experiment))
        }
    }
}

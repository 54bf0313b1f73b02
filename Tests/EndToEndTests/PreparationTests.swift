import Foundation
import Ledger
import Testing

extension EndToEnd {
    /// That the experiments of these tests, most of which are copies, are what `prepare` makes.
    @Suite struct Preparations {
        @Test("a copy is what was prepared, goes its own way, and hides no other setting")
        func copies() throws {
            let agent = "write(knowing(\"add\", \"subtract\"))\njudged()\n"
            var ids: [String] = []
            for _ in 0..<2 {
                let night = try Night()
                try night.prepare(Configuration(agent: agent))
                ids.append(try night.id())
                #expect(try night.bodies(.decision).isEmpty, "nothing has happened to it")
                try night.done(["verify", night.directory])
                try night.done(["run", night.directory])
                #expect(try night.bodies(.decision).count == 1)
                try night.expectSettled()
            }
            #expect(ids[0] == ids[1], "the second is a copy of what the first was")
            let other = try Night()
            try other.prepare(Configuration(agent: agent, more: "gate: { final: 0.5 }\n"))
            #expect(try other.id() != ids[0])
            let anew = try Night()
            try anew.prepareAnew(Configuration(agent: agent))
            #expect(try anew.id() != ids[0])
        }

        @Test("where the one of its key is in use, an experiment is prepared like any other")
        func second() throws {
            let one = try Night()
            try one.prepare(Configuration())
            let two = try Night()
            try two.prepare(Configuration())
            #expect(try one.id() != two.id() && one.state != two.state)
            for night in [one, two] { try night.expectIntact() }
        }
    }
}

import RedTeam
import SandboxPlan
import StrictJSON
import Testing

extension RedTeam {
    /// The test of the red team itself: an attack that no missing wall can open proves nothing.
    @Suite("The red team without one wall")
    struct LayerTests {
        /// The layers of a single sandbox; the others belong to the loop.
        static let layers: [Layer] = [
            .privateRoot, .payloadNamespace, .capabilities, .landlock, .filter, .network, .netFiles,
            .ipc,
            .pid,
            .readOnlyMounts, .descriptors, .limits, .objects,
        ]
        /// The layers of an exam's conversation, which one family attacks.
        static let conversation: [Layer] = [.relaySchema, .verdictDescriptor]

        private struct Found {
            let open: Set<String>
            let notApplicable: Set<String>
            let broken: Set<String>
            let status: Int32?

            init(_ outcome: InstalledBuild.Outcome) throws {
                let json = try JSONValue(parsing: Array(outcome.output.utf8), limits: .document)
                let probes = try #require(json["probes"]?.arrayValue)
                func ids(_ word: JSONValue) -> Set<String> {
                    Set(
                        probes.filter { $0["outcome"] == word }.compactMap { $0["id"]?.stringValue }
                    )
                }
                (open, notApplicable, broken) = (ids("open"), ids("n/a"), ids("broken"))
                status = outcome.status
            }
        }

        @Test("C07: as shipped nothing is open, whatever the environment says")
        func shipped() throws {
            let found = try Found(Hall.shared().redTeam(without: nil))
            #expect(found.open.isEmpty)
            #expect(found.broken.isEmpty)
            #expect(found.status == 0)
        }

        @Test(
            "a missing layer opens exactly the attacks named for it",
            arguments: layers + conversation
        )
        func exactly(_ layer: Layer) throws {
            let family = Self.conversation.contains(layer) ? "relay" : nil
            let found = try Found(Hall.shared().redTeam(without: layer, family: family))
            let named = Set(
                Catalogue.all.filter { $0.wall.falls(without: layer) }.map(\.id)
            ).subtracting(found.notApplicable)
            #expect(!named.isEmpty)
            #expect(found.open.subtracting(named).isEmpty, "open, and not named")
            #expect(named.subtracting(found.open).isEmpty, "named, and not open")
            #expect(found.broken.isEmpty)
            #expect(found.status == 5)
        }

        @Test("every layer of a sandbox has an attack of its own")
        func everyLayer() {
            for layer in Self.layers + Self.conversation {
                #expect(Catalogue.all.contains { $0.wall.falls(without: layer) }, "\(layer)")
            }
            // What the loop enforces is attacked by the cheats of the scripted agent.
            let loop = Set(Cheat.all.map(\.layer)).union([.freeze, .selfCheck])
            #expect(loop.union(Self.layers) == Set(Layer.allCases))
        }
    }
}

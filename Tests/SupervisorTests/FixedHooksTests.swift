import StrictJSON
import Supervisor
import Testing
import Workspace

@Suite("Hooks that are fixed while the supervisor is root")
struct FixedHooksTests {
    private let fixed = FixedHooks(
        [.command(["/usr/local/bin/tell", "-v"]), .webhook("https://hooks.example.org/T0")],
        within: .milliseconds(2_500)
    )

    private func read(_ order: JSONValue) throws -> NotifySettings.Hook {
        try fixed.read(order: order.canonicalBytes).hook
    }

    @Test("the first message comes back as it was")
    func first() throws {
        #expect(try FixedHooks(reading: fixed.message) == fixed)
        #expect(fixed.seconds == 2)
        let short = FixedHooks([], within: .milliseconds(10))
        #expect(short.seconds == 1, "no time at all would be no limit")
    }

    @Test("a message names a hook by its place, and what is told is its event")
    func orders() throws {
        let event: JSONValue = ["kind": "release"]
        #expect(try read(["hook": 0, "event": event]) == fixed.hooks[0])
        #expect(try read(["hook": 1, "event": event]) == fixed.hooks[1])
        let order: JSONValue = ["hook": 1, "event": event]
        let bytes = try fixed.read(order: order.canonicalBytes).event
        #expect(bytes == event.canonicalBytes)
    }

    @Test("a message with other words, another address or more than its two members is refused")
    func otherWords() {
        let words: JSONValue = ["/bin/sh", "-c", "true"]
        let orders: [JSONValue] = [
            ["command": words, "event": [:], "seconds": 10],
            ["webhook": "https://elsewhere.example.org/", "event": [:], "seconds": 10],
            ["hook": 0, "event": [:], "command": words],
            ["hook": 0, "event": [:], "seconds": 1_000],
            ["hook": words, "event": [:]],
            ["hook": 2, "event": [:]],
            ["hook": -1, "event": [:]],
            ["hook": 0, "event": "text"],
            ["hook": 0],
            [],
        ]
        for order in orders {
            #expect(throws: SupervisorError.self, "\(order)") { try read(order) }
        }
        #expect(throws: SupervisorError.self) { try fixed.read(order: fixed.message) }
        #expect(throws: SupervisorError.self) { try fixed.read(order: [0x7B]) }
    }

    @Test("a first message with anything but hooks and their time is refused")
    func otherFirst() {
        let messages: [JSONValue] = [
            ["hooks": []],
            ["hooks": [], "seconds": 0],
            ["hooks": [], "seconds": 1, "broker": "/bin/sh"],
            ["hooks": [["command": ["--foreground", "/bin/sh"]]], "seconds": 1],
            ["hooks": [["command": []]], "seconds": 1],
            ["hooks": [["command": ["/bin/sh", 1]]], "seconds": 1],
            ["hooks": [["command": ["/bin/sh"], "webhook": "https://x/"]], "seconds": 1],
            ["hook": 0, "event": [:]],
        ]
        for message in messages {
            #expect(throws: SupervisorError.self, "\(message)") {
                try FixedHooks(reading: message.canonicalBytes)
            }
        }
    }
}

import LauncherClient
import LauncherProtocol
import LinuxKernel
import SandboxPlan
import Testing

extension Privileged {
    @Suite("Streams")
    struct StreamTests {
        @Test("standard input reaches the payload and its end does too")
        func pipes() throws {
            try Lab.run { lab in
                let text = String(repeating: "line of input\n", count: 20_000)
                let guest = try lab.start(
                    try Plans.candidate(),
                    [try lab.rootTree()],
                    [Lab.candidateProbe, "echo"]
                )
                for start in stride(from: 0, to: text.utf8.count, by: 40_000) {
                    let part = Array(text.utf8)[start..<min(start + 40_000, text.utf8.count)]
                    guest.send(String(decoding: part, as: UTF8.self))
                    try lab.wait("the echo") { guest.output.count >= start + part.count }
                }
                guest.closeInput()
                try guest.waitForEnd()
                #expect(guest.text == text && guest.exit?.kind == .exited)
                let facts = try lab.candidate(["terminal"]).facts
                #expect(facts["tty.0"] == "0" && facts["tty.1"] == "0")
            }
        }

        @Test("output and errors stay apart")
        func apart() throws {
            try Lab.run { lab in
                let guest = try lab.candidate(["say", "2", "trouble"])
                #expect(guest.errors == Array("trouble".utf8) && guest.output.isEmpty)
            }
        }

        @Test("what is written to a slot comes out of its other end alone")
        func slots() throws {
            try Lab.run { lab in
                let guest = try lab.candidate(["say", "3", "frame"])
                #expect(guest.exit?.code == 0)
                let received = try guest.slots[0].descriptor.read(atMost: 64)
                #expect(received == Array("frame".utf8))
                // Nobody else holds the payload's end: after its death we read the end.
                #expect(try guest.slots[0].descriptor.read(atMost: 64).isEmpty)
                #expect(guest.output.isEmpty)
            }
        }

        private static func terminalPlan() throws -> SandboxPlan {
            try Plans.coding().with { $0.streams = .terminal }
        }

        @Test("a terminal is one: for all three streams, with a session of its own, echoing")
        func terminal() throws {
            try Lab.run { lab in
                let trees = try lab.codingTrees()
                let plan = try Self.terminalPlan()
                let guest = try lab.run(plan, trees, [Lab.codingProbe, "terminal"])
                for number in 0..<3 { #expect(guest.text.contains("tty.\(number)=1\r\n")) }
                #expect(guest.exit?.kind == .exited)
                let echo = try lab.start(plan, trees, [Lab.codingProbe, "echo"])
                echo.send("hello\n")
                // Once from the terminal itself, once from the program.
                try echo.waitFor("hello\r\nhello\r\n")
                echo.send("\u{4}")
                try echo.waitForEnd()
                #expect(echo.exit?.kind == .exited)
            }
        }

        @Test("a resized window is what the payload sees, and it is told")
        func resize() throws {
            try Lab.run { lab in
                let guest = try lab.start(
                    try Self.terminalPlan(),
                    try lab.codingTrees(),
                    [Lab.codingProbe, "terminal", "wait"]
                )
                try guest.waitFor("leader=")
                try guest.sandbox.resize(WindowSize(rows: 41, columns: 123))
                try guest.waitForEnd()
                #expect(guest.text.contains("window=41x123"))
            }
        }

        @Test("the terminal's interrupt reaches the payload")
        func interrupt() throws {
            try Lab.run { lab in
                let guest = try lab.start(
                    try Self.terminalPlan(),
                    try lab.codingTrees(),
                    [Lab.codingProbe, "echo"]
                )
                guest.send("ready\n")
                try guest.waitFor("ready\r\nready\r\n")
                guest.send("\u{3}")
                try guest.waitForEnd()
                #expect(guest.exit?.kind == .signalled && guest.exit?.signal == 2)
            }
        }

        @Test("nothing can be typed into the sandbox's own terminal either")
        func injection() throws {
            try Lab.run { lab in
                let guest = try lab.run(
                    try Self.terminalPlan(),
                    try lab.codingTrees(),
                    [Lab.codingProbe, "call", "tiocsti", "tiocsti-high", "tioclinux"]
                )
                for name in ["tiocsti", "tiocsti-high", "tioclinux"] {
                    #expect(guest.text.contains("\(name)=EPERM"), "\(name)")
                }
            }
        }
    }
}

import HostKernel
import LinuxKernel
import Testing

@Suite("Spawn")
struct SpawnTests {
    @Test("output, errors and exit code come back, input goes in")
    func run() throws {
        let outcome = try Spawn.run(
            "/bin/sh",
            arguments: ["-c", "cat; echo trouble >&2; exit 7"],
            input: Array("given".utf8)
        )
        #expect(outcome.output == Array("given".utf8))
        #expect(outcome.errors == Array("trouble\n".utf8))
        #expect(outcome.end.exitCode == 7 && outcome.end.signal == nil)
    }

    @Test("much of everything at once does not jam")
    func much() throws {
        let input = [UInt8](repeating: 120, count: 1 << 20)
        let outcome = try Spawn.run(
            "/bin/sh",
            arguments: ["-c", "tee /dev/stderr"],
            input: input
        )
        #expect(outcome.output == input && outcome.errors == input)
    }

    @Test("a program that does not read its input still has its say")
    func unread() throws {
        CurrentProcess.ignorePipeSignal()
        let outcome = try Spawn.run(
            "/bin/sh",
            arguments: ["-c", "exec 0<&-; echo done"],
            input: [UInt8](repeating: 1, count: 1 << 20)
        )
        #expect(outcome.output == Array("done\n".utf8))
    }

    @Test("output past the limit is an error")
    func limit() throws {
        let error = #expect(throws: SystemError.self) {
            try Spawn.run("/bin/sh", arguments: ["-c", "head -c 5000 /dev/zero"], limit: 4000)
        }
        #expect(error?.name == "EFBIG")
    }

    @Test("a program inherits nothing but its three streams and the variables it is given")
    func nothingInherited() throws {
        let kept = try Descriptor.open("/etc/passwd", .read)
        let outcome = try Spawn.run(
            "/bin/sh",
            arguments: ["-c", "echo /proc/self/fd/*; env"],
            environment: ["ONLY=this"]
        )
        _ = try kept.status()
        let text = String(decoding: outcome.output, as: UTF8.self)
        #expect(text.contains("ONLY=this") && !text.contains("HOME="))
        let numbers = text.split(separator: "\n")[0].split(separator: " ").count
        // The three streams, and the one by which the shell reads that directory.
        #expect(numbers <= 4, "\(text)")
    }

    @Test("a signal's death and a missing program are told apart from an exit")
    func deaths() throws {
        let killed = try Spawn.run("/bin/sh", arguments: ["-c", "kill -9 $$"])
        #expect(killed.end.signal == 9 && killed.end.exitCode == nil)
        let error = #expect(throws: SystemError.self) {
            try Spawn.run("/nowhere/program", arguments: [])
        }
        #expect(error?.isMissing == true)
    }

    @Test("a program that ran leaves no descriptor, whatever it did with its streams")
    func spawned() throws {
        // As every program of ours does that writes to others.
        CurrentProcess.ignorePipeSignal()
        func open() throws -> Int {
            try Descriptor.open("/proc/self/fd", [.directory]).listing().count
        }
        let before = try open()
        for _ in 0..<60 {
            let echoed = try Spawn.run("/bin/cat", arguments: [], input: [65, 66])
            #expect(echoed.output == [65, 66])
            _ = try Spawn.run(
                "/bin/true",
                arguments: [],
                input: Array(repeating: 65, count: 200_000)
            )
            #expect(throws: SystemError.self) {
                try Spawn.run("/bin/echo", arguments: ["long"], limit: 2)
            }
        }
        // Other tests of this process have some open at a time; 180 programs would have left 2 each.
        #expect(try open() - before < 100)
    }
}

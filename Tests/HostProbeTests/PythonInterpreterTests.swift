import HostProbe
import LinuxKernel
import Testing

@Suite("Finding a Python interpreter")
struct PythonInterpreterTests {
    private static let elf: [UInt8] = [0x7f, 0x45, 0x4c, 0x46, 2, 1, 1, 0]

    private func refusal(_ path: String) -> String? {
        do {
            _ = try PythonInterpreter(path: path)
            return nil
        } catch {
            return error.reason
        }
    }

    @Test("the version comes from the program behind the link")
    func behindLinks() throws {
        let home = try TemporaryDirectory()
        try home.write("v/bin/python3.12", Self.elf, permissions: 0o755)
        try home.write("v/lib/python3.12/os.py", [])
        try home.link("v/bin/python3", to: "python3.12")
        try home.link("python", to: "\(home.path)/v/bin/python3")
        let python = try PythonInterpreter(path: "\(home.path)/python")
        #expect(python.version == "3.12")
        #expect(python.prefix == "\(home.path)/v")
        #expect(python.standardLibrary == "\(home.path)/v/lib/python3.12")
    }

    @Test("a shim script is not an interpreter")
    func shim() throws {
        let home = try TemporaryDirectory()
        try home.write("bin/python3", Array("#!/bin/sh\nexec python\n".utf8), permissions: 0o755)
        #expect(refusal("\(home.path)/bin/python3")?.contains("shim") == true)
    }

    @Test("an old version, a missing library and a missing file are told apart")
    func refusals() throws {
        let home = try TemporaryDirectory()
        try home.write("old/bin/python3.8", Self.elf, permissions: 0o755)
        try home.write("old/lib/python3.8/os.py", [])
        try home.write("bare/bin/python3.12", Self.elf, permissions: 0o755)
        try home.write("plain/bin/python3.12", Self.elf, permissions: 0o644)
        try home.link("loop", to: "loop")
        #expect(refusal("\(home.path)/old/bin/python3.8") == "version 3.8 is too old")
        #expect(refusal("\(home.path)/bare/bin/python3.12")?.contains("standard library") == true)
        #expect(refusal("\(home.path)/plain/bin/python3.12") == "it is no executable file")
        #expect(refusal("\(home.path)/none") == "it does not exist")
        #expect(refusal("\(home.path)/loop") == "it does not exist")
    }

    @Test("a program or a library that anyone can change is refused")
    func worldWritable() throws {
        for open in ["bin/python3.12", "lib/python3.12/os.py"] {
            let home = try TemporaryDirectory()
            try home.write("lib/python3.12/os.py", [])
            try home.write("bin/python3.12", Self.elf, permissions: 0o755)
            #expect(refusal("\(home.path)/bin/python3.12") == nil)
            try Descriptor.open("\(home.path)/\(open)", .read).setPermissions(0o777)
            #expect(refusal("\(home.path)/bin/python3.12")?.contains("everyone") == true)
        }
    }

    @Test("a named interpreter is the only one looked at")
    func named() throws {
        #expect(throws: HostProbeError.self) {
            try PythonSearch.find(named: "/nonexistent/python3", homes: [])
        }
    }

    @Test("the newest version of a version manager comes first, the system's own before it")
    func order() throws {
        let home = try TemporaryDirectory()
        for version in ["3.9.18", "3.10.1", "3.13.0"] {
            try home.makeDirectories(".pyenv/versions/\(version)/bin")
        }
        let paths = PythonSearch.candidates(homes: [home.path])
        #expect(paths.first == "/usr/bin/python3")
        let managed = paths.filter { $0.contains(".pyenv") }
        #expect(managed.map { $0.split(separator: "/")[4] } == ["3.13.0", "3.10.1", "3.9.18"])
    }
}

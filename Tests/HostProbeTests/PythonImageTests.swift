import Foundation
import HostKernel
import HostProbe
import LinuxKernel
import StrictJSON
import Synchronization
import Testing

/// The interpreter of the machine that runs the tests; nil skips what needs one.
private let hostPython = try? PythonSearch.find(named: nil, homes: ["/root"])

@Suite("Images", .enabled(if: hostPython != nil, "no CPython 3.9 or newer on this machine"))
struct PythonImageTests {
    private let python: PythonInterpreter

    init() throws {
        python = try #require(hostPython)
    }

    @Test("the manifest has a program, its libraries, its loader and the places of mounts")
    func contents() throws {
        let manifest = try PythonImage.manifest(of: python)
        let inside = "usr/lib/python\(python.version)"
        for path in [
            "usr/bin/python\(python.version)", "usr/lib64/ld-linux-x86-64.so.2", "\(inside)/os.py",
            "\(inside)/json/__init__.py", "usr/bin/true", "etc/passwd",
        ] {
            #expect(manifest.entries[path] != nil, "\(path)")
        }
        for path in ["proc", "dev", "tmp", "vault", "candidate", "examiner", "work"] {
            #expect(manifest.entries[path] == .directory)
        }
        #expect(manifest.entries["usr/bin/python3"] == .link("python\(python.version)"))
        #expect(manifest.entries.keys.contains { $0.hasSuffix("/libc.so.6") })
    }

    @Test("tests, installed packages and terminal modules stay outside")
    func omissions() throws {
        let manifest = try PythonImage.manifest(of: python)
        for word in [
            "/site-packages", "/dist-packages", "/idlelib", "/tkinter", "/ensurepip", "_curses",
            "/test/", "/config-",
        ] {
            #expect(!manifest.entries.keys.contains { $0.contains(word) }, "\(word)")
        }
    }

    @Test("an image is built once, found again, and runs Python from its own files")
    func build() throws {
        let home = try TemporaryDirectory()
        try home.makeDirectories("images")
        try home.makeDirectories("tree")
        let manifest = try PythonImage.manifest(of: python)
        let image = try ImageBuilder.build(manifest, into: "\(home.path)/images")
        #expect(image.byteCount < 64 << 20)
        #expect(try ImageBuilder.build(manifest, into: "\(home.path)/images") == image)

        let tree = "\(home.path)/tree"
        try ImageBuilder.copy(image, to: try Descriptor.open(tree, [.read, .directory]))
        let libc = try #require(manifest.paths.first { $0.hasSuffix("/libc.so.6") })
        let outcome = try Spawn.run(
            "\(tree)/usr/lib64/ld-linux-x86-64.so.2",
            arguments: [
                "--inhibit-cache", "--library-path", "\(tree)/\(libc.dropLast(10))",
                "\(tree)/usr/bin/python3", "-S", "-c",
                "import asyncio, json, re, hashlib, socket, subprocess, threading, unittest;"
                    + "print(json.__file__)",
            ],
            environment: ["PYTHONHOME=\(tree)/usr", "PYTHONDONTWRITEBYTECODE=1"]
        )
        #expect(String(decoding: outcome.errors, as: UTF8.self) == "")
        #expect(
            String(decoding: outcome.output, as: UTF8.self)
                == "\(tree)/usr/lib/python\(python.version)/json/__init__.py\n"
        )
    }

    @Test("a build waits while another holds the lock, and writes nothing meanwhile")
    func waits() throws {
        let home = try TemporaryDirectory()
        try home.makeDirectories("images")
        let images = "\(home.path)/images"
        let lock = Descriptor?.Box(try Descriptor.open("\(images)/.lock", [.write, .create]))
        let inode = try #require(
            try lock.withDescriptor { file throws(SystemError) in
                try file.lock()
                return try file.status().inode
            }
        )
        let manifest = try PythonImage.manifest(of: python)
        // On a thread for itself: the few that tasks share may all be at other tests' work.
        let built = Built()
        Thread.detachNewThread {
            let result = Result { try ImageBuilder.build(manifest, into: images) }
            built.result.withLock { $0 = result }
        }
        let loop = EventLoop()
        // proc_locks(5): who waits for a lock stands below it behind an arrow.
        let end = MonotonicTime.now.advanced(by: .milliseconds(60_000))
        var isWaiting = false
        while !isWaiting, MonotonicTime.now < end {
            try loop.turn(atMost: .milliseconds(2))
            let table = try Descriptor.open("/proc/locks", [.read]).readAll(limit: 1 << 20)
            isWaiting = String(decoding: table, as: UTF8.self).split(separator: "\n").contains {
                $0.contains("-> FLOCK") && $0.contains(":\(inode) ")
            }
        }
        #expect(isWaiting)
        let names = try Descriptor.open(images, [.read, .directory]).entries()
        #expect(names == [".lock"])
        _ = lock.take()
        while built.result.withLock({ $0 == nil }), MonotonicTime.now < end {
            try loop.turn(atMost: .milliseconds(2))
        }
        let image = try #require(built.result.withLock { $0 }).get()
        #expect(try ImageBuilder.isWhole(image))
    }

    /// What a thread built.
    private final class Built: Sendable {
        let result = Mutex<Result<Image, any Error>?>(nil)
    }

    @Test("two builds of one image at once both find it whole")
    func together() async throws {
        let home = try TemporaryDirectory()
        try home.makeDirectories("images")
        let images = "\(home.path)/images"
        let manifest = try PythonImage.manifest(of: python)
        async let first = Task.detached { try ImageBuilder.build(manifest, into: images) }.value
        async let second = Task.detached { try ImageBuilder.build(manifest, into: images) }.value
        let built = try await [first, second]
        #expect(built[0] == built[1])
        #expect(try ImageBuilder.isWhole(built[0]))
        let names = try Descriptor.open(images, [.read, .directory]).entries()
        #expect(Set(names) == [".lock", built[0].digest])
    }

    @Test("a changed, added or missing file makes an image another, and it is built again")
    func damage() throws {
        let home = try TemporaryDirectory()
        try home.makeDirectories("images")
        var manifest = ImageManifest()
        manifest.add("etc/name", .bytes([1, 2, 3]))
        manifest.add("bin", .link("usr/bin"))
        let image = try ImageBuilder.build(manifest, into: "\(home.path)/images")
        #expect(try ImageBuilder.isWhole(image))
        let etc = try Descriptor.open("\(image.directory)/etc", [.read, .directory])
        try etc.replace("name", with: [1, 2, 4])
        #expect(try !ImageBuilder.isWhole(image))
        #expect(try ImageBuilder.build(manifest, into: "\(home.path)/images") == image)
        #expect(try ImageBuilder.isWhole(image))
        let again = try Descriptor.open("\(image.directory)/etc", [.read, .directory])
        try again.replace("more", with: [])
        #expect(try !ImageBuilder.isWhole(image))
        try again.remove("more")
        #expect(try ImageBuilder.isWhole(image))
        try again.openBeneath("name", .read).setPermissions(0o755)
        #expect(try !ImageBuilder.isWhole(image))
    }

    @Test("nothing is left beside an image that could not be built")
    func failure() throws {
        let home = try TemporaryDirectory()
        try home.makeDirectories("images")
        var manifest = ImageManifest()
        manifest.add("a", .file(source: "\(home.path)/none"))
        #expect(throws: HostProbeError.self) {
            try ImageBuilder.build(manifest, into: "\(home.path)/images")
        }
        let images = try Descriptor.open("\(home.path)/images", [.read, .directory])
        #expect(try images.entries() == [".lock"])
    }

    @Test("two manifests that differ in any way have different digests")
    func digests() throws {
        let home = try TemporaryDirectory()
        try home.makeDirectories("images")
        let contents: [(String, ImageContent)] = [
            ("a", .bytes([1])), ("a", .bytes([2])), ("b", .bytes([1])), ("a", .link("1")),
            ("a", .directory), ("a/b", .bytes([1])), ("a", .bytes([])),
        ]
        var digests: Set<String> = []
        for (path, content) in contents {
            var manifest = ImageManifest()
            manifest.add(path, content)
            digests.insert(try ImageBuilder.build(manifest, into: "\(home.path)/images").digest)
        }
        #expect(digests.count == contents.count)
    }
}

@Suite("Host facts")
struct HostFactsTests {
    @Test("this host has a kernel, a processor and memory")
    func probe() {
        let facts = HostFacts.probe(pythonPath: nil, homes: [])
        #expect(facts.kernelRelease.contains("."))
        #expect(facts.processors > 0)
        #expect(facts.memoryBytes > 1 << 26)
        #expect(facts.json["kernel"]?.stringValue == facts.kernelRelease)
    }

    @Test("every shortcoming of a host comes with a remedy")
    func shortcomings() {
        let bare = HostFacts(
            kernelRelease: "5.10",
            landlockABI: 0,
            controlGroups: .unusable,
            hasUserNamespaces: false,
            hasSeccomp: false,
            processors: 1,
            memoryBytes: 1 << 30,
            hasMergedUsr: false,
            python: nil
        )
        #expect(bare.shortcomings.count == 6)
        #expect(bare.shortcomings.allSatisfy { !$0.remedy.isEmpty })
    }

    @Test(
        "where AppArmor restricts user namespaces the cure is the rule that ships, elsewhere a sysctl"
    )
    func restriction() {
        func facts(_ isRestricted: Bool, isOn: Bool = true) -> HostFacts {
            HostFacts(
                kernelRelease: "6.8",
                landlockABI: 4,
                controlGroups: .v2,
                hasUserNamespaces: isOn,
                restrictsUserNamespaces: isRestricted,
                hasSeccomp: true,
                processors: 1,
                memoryBytes: 1 << 30,
                hasMergedUsr: true,
                python: nil
            )
        }
        let rule = "policies/apparmor/invigilator-launcher"
        let (ubuntu, other) = (facts(true), facts(false))
        #expect(ubuntu.userNamespaceCure(rule: rule).contains(rule))
        #expect(ubuntu.userNamespaceCure(rule: rule).contains("apparmor_parser"))
        #expect(!other.userNamespaceCure(rule: rule).contains(rule))
        #expect(other.userNamespaceCure(rule: rule).contains("container"))
        #expect(ubuntu.userNamespaceObstacle?.contains("AppArmor") == true)
        #expect(other.userNamespaceObstacle == nil)
        for off in [facts(false, isOn: false), facts(true, isOn: false)] {
            #expect(off.userNamespaceCure(rule: rule).hasPrefix("sysctl -w user.max_user"))
            #expect(off.userNamespaceObstacle == "user namespaces are switched off")
        }
        #expect(ubuntu.json["restricts_user_namespaces"] == true)
    }
}

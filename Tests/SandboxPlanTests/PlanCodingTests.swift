import LauncherClient
import SandboxPlan
import TestSupport
import Testing

@Suite("CompiledPlan")
struct PlanCodingTests {
    @Test("what is encoded is decoded, for any plan", arguments: 0..<200)
    func roundTrip(_ seed: Int) throws {
        var generator = SeededGenerator(seed: UInt64(seed))
        let plan = try generator.plan()
        let compiled = CompiledPlan(plan)
        #expect(try compiled.plan() == plan)
        #expect(try CompiledPlan(file: compiled.file) == compiled)
        #expect(
            try CompiledPlan(bytes: compiled.bytes, digest: compiled.digest.bytes) == compiled
        )
    }

    @Test("two plans that differ have different digests")
    func digests() throws {
        var generator = SeededGenerator(seed: 9)
        var seen: [SHA256Digest: SandboxPlan] = [:]
        for _ in 0..<200 {
            let plan = try generator.plan()
            let digest = CompiledPlan(plan).digest
            if let other = seen[digest] { #expect(other == plan) }
            seen[digest] = plan
        }
    }

    @Test("one flipped bit is noticed, wherever it is")
    func flipped() {
        let file = CompiledPlan(SamplePlans.coding).file
        for at in file.indices {
            var changed = file
            changed[at] ^= 1 << UInt8(at % 8)
            #expect(throws: PlanError.self, "byte \(at)") { try CompiledPlan(file: changed) }
        }
    }

    @Test("a file that was cut, lengthened or never was a plan is refused")
    func otherFiles() {
        let file = CompiledPlan(SamplePlans.coding).file
        for count in [0, 1, 8, 39, 40, 41, file.count - 1] {
            #expect(throws: PlanError.self) { try CompiledPlan(file: Array(file.prefix(count))) }
        }
        #expect(throws: PlanError.self) { try CompiledPlan(file: file + [0]) }
        #expect(throws: PlanError.self) { try CompiledPlan(file: Array("#!/bin/sh\n".utf8)) }
    }

    /// A plan of these bytes with the digest that belongs to them.
    private func decode(_ bytes: [UInt8]) throws -> SandboxPlan {
        try CompiledPlan(bytes: bytes, digest: SHA256Digest(of: bytes).bytes).plan()
    }

    @Test("another version is refused")
    func version() {
        var bytes = CompiledPlan(SamplePlans.coding).bytes
        bytes[0] = 9
        #expect(throws: PlanError.self) { try decode(bytes) }
    }

    @Test("bytes after the end and bytes that are missing are refused")
    func lengths() throws {
        let bytes = CompiledPlan(SamplePlans.coding).bytes
        #expect(try decode(bytes) == SamplePlans.coding)
        #expect(throws: PlanError.self) { try decode(bytes + [0]) }
        for count in 0..<bytes.count {
            #expect(throws: PlanError.self) { try decode(Array(bytes.prefix(count))) }
        }
    }

    @Test("whatever bytes come, they are refused or mean exactly one plan", arguments: 0..<40)
    func fuzz(_ seed: Int) throws {
        var generator = SeededGenerator(seed: 0xf022_0000 + UInt64(seed))
        let plan = try generator.plan()
        let good = CompiledPlan(plan).bytes
        for _ in 0..<100 {
            var bytes = good
            for _ in 0...generator.below(4) {
                switch generator.below(4) {
                case 0: bytes[generator.below(bytes.count)] = UInt8(generator.below(256))
                case 1: bytes[generator.below(bytes.count)] ^= 1 << UInt8(generator.below(8))
                case 2: bytes.remove(at: generator.below(bytes.count))
                default: bytes.insert(UInt8(generator.below(256)), at: generator.below(bytes.count))
                }
            }
            do throws(PlanError) {
                let decoded = try CompiledPlan(bytes: bytes, digest: SHA256Digest(of: bytes).bytes)
                    .plan()
                #expect(CompiledPlan(decoded).bytes == bytes, "seed \(seed): two encodings")
            } catch {
                #expect(!error.reason.isEmpty && !error.remedy.isEmpty)
            }
        }
    }

    @Test("random bytes never decode and never crash")
    func noise() {
        var generator = SeededGenerator(seed: 77)
        for _ in 0..<2000 {
            let bytes = [1, 0] + generator.bytes(300)
            #expect(throws: PlanError.self) { try decode(bytes) }
        }
    }
}

@Suite("WireDecoder")
struct WireDecoderTests {
    @Test("integers of every width come back")
    func integers() throws {
        var encoder = WireEncoder()
        encoder.write(UInt8.max)
        encoder.write(Int32.min)
        encoder.write(UInt64.max - 1)
        encoder.write(UInt16(0x0102))
        #expect(Array(encoder.bytes.suffix(2)) == [2, 1])
        var decoder = WireDecoder(encoder.bytes)
        #expect(try decoder.integer("a") == UInt8.max)
        #expect(try decoder.integer("b") == Int32.min)
        #expect(try decoder.integer("c") == UInt64.max - 1)
        #expect(try decoder.integer("d") == UInt16(0x0102))
        try decoder.finish()
    }

    @Test("a count above its limit is refused before anything is read")
    func counts() {
        var decoder = WireDecoder([0xff, 0xff, 0xff, 0xff, 1, 2, 3])
        #expect(throws: PlanError.self) { try decoder.counted("bytes") }
        var list = WireDecoder([5, 0, 0, 0, 1, 2, 3, 4, 5])
        #expect(throws: PlanError.self) {
            try list.list("list", limit: 4) { input throws(PlanError) in
                try input.integer("element") as UInt8
            }
        }
    }

    @Test("text is UTF-8 without NUL, and a truth value is 0 or 1")
    func textAndTruth() {
        for bytes: [UInt8] in [[2, 0, 0, 0, 0xc3, 0x28], [1, 0, 0, 0, 0], [9, 0, 0, 0, 65]] {
            var decoder = WireDecoder(bytes)
            #expect(throws: PlanError.self) { try decoder.text("text") }
        }
        var decoder = WireDecoder([2])
        #expect(throws: PlanError.self) { try decoder.bool("truth") }
    }

    @Test("an error names the field and the byte")
    func location() {
        var decoder = WireDecoder([1, 2])
        let error = #expect(throws: PlanError.self) {
            _ = try decoder.integer("first") as UInt8
            _ = try decoder.integer("second") as UInt32
        }
        #expect(error?.location == "second, byte 1")
    }
}

extension SeededGenerator {
    fileprivate mutating func path() throws -> InsidePath {
        let parts = (0...below(3)).map { _ in "p\(below(100))" }
        return try InsidePath("/" + parts.joined(separator: "/"))
    }

    fileprivate mutating func list<Element>(
        _ limit: Int,
        _ each: (inout SeededGenerator) throws -> Element
    ) rethrows -> [Element] {
        var made: [Element] = []
        for _ in 0..<below(limit + 1) { made.append(try each(&self)) }
        return made
    }

    private mutating func source() -> PinnedSource {
        PinnedSource(path: "/" + text(20), device: next(), inode: next(), isDirectory: flag())
    }

    private mutating func mount() throws -> PlannedMount {
        let sources: [MountSource] = [
            .host(source()), .vault(source()), .tree(index: UInt8(below(256))),
            .tmpfs(size: ByteCount(bytes: next()), inodes: UInt32(below(1 << 20))),
            .treeFile(index: UInt8(below(256)), path: try path()),
        ]
        return PlannedMount(
            target: try path(),
            source: pick(sources),
            access: flag() ? .readOnly : .readWrite,
            isExecutable: flag()
        )
    }

    private mutating func entry() throws -> SkeletonEntry {
        switch below(3) {
        case 0: .directory(try path())
        case 1: .link(path: try path(), target: text(20))
        default: .file(path: try path(), contents: bytes(40))
        }
    }

    private mutating func limits() -> SandboxLimits {
        SandboxLimits(
            memory: ByteCount(bytes: next()),
            processes: UInt32(below(1000)),
            cpuPercent: UInt32(below(1000)),
            wallClock: Milliseconds(next()),
            cpuTime: flag() ? Milliseconds(next()) : nil,
            idle: flag() ? Milliseconds(next()) : nil,
            output: ByteCount(bytes: next()),
            killsOnOutput: flag(),
            openFiles: UInt32(below(1 << 20)),
            fileSize: ByteCount(bytes: next())
        )
    }

    /// Any plan that can be written, whether or not it keeps an invariant.
    fileprivate mutating func plan() throws -> SandboxPlan {
        SandboxPlan(
            name: text(20),
            role: pick(SandboxRole.allCases),
            demandedLevel: pick(AssuranceLevel.allCases),
            root: flag() ? .tree : .skeleton(try list(4) { try $0.entry() }),
            mounts: try list(5) { try $0.mount() },
            proc: flag() ? .pidOnly : .masked(try list(4) { try $0.entry() }),
            devices: list(5) { $0.pick(DeviceName.allCases) },
            limits: limits(),
            streams: flag() ? .pipes : .terminal,
            network: pick(NetworkView.allCases),
            landlock: LandlockPlan(
                minimumABI: UInt8(below(256)),
                rules: try list(5) { generator in
                    LandlockRule(
                        path: try generator.path(),
                        access: generator.pick(LandlockAccess.allCases)
                    )
                },
                allowsTCP: flag(),
                isLogged: flag()
            ),
            filter: SeccompProgram(bytes: bytes(200)),
            environment: list(4) { generator in
                EnvironmentVariable(name: generator.text(8), value: generator.text(30))
            },
            workingDirectory: try path(),
            command: list(5) { $0.text(20) },
            descriptors: list(4) { generator in
                DescriptorSlot(
                    number: UInt8(generator.below(256)),
                    purpose: generator.flag() ? .frames : .verdicts
                )
            }
        )
    }
}

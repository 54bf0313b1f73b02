// The writing half of a plan's wire form, field by field as `SandboxPlan.init(from:)` reads it. It stands
// here because the launcher never writes a plan.

public import SandboxPlan

extension CompiledPlan {
    /// Encodes a plan.
    public init(_ plan: SandboxPlan) {
        var encoder = WireEncoder()
        encoder.write(CompiledPlan.version)
        encoder.write(plan)
        self.init(bytes: encoder.bytes)
    }

    /// The bytes of a plan file: magic, digest, bytes.
    public var file: [UInt8] { Self.magic + digest.bytes + bytes }
}

extension WireEncoder {
    fileprivate mutating func write(_ plan: SandboxPlan) {
        write(plan.name)
        write(plan.role.rawValue)
        write(plan.demandedLevel.rawValue)
        write(plan.root)
        write(plan.mounts) { $0.write($1) }
        write(plan.proc)
        write(plan.devices) { $0.write($1.rawValue) }
        write(plan.limits)
        write(plan.streams.rawValue)
        write(plan.network.rawValue)
        write(plan.landlock.minimumABI)
        write(plan.landlock.rules) {
            $0.write($1.path.text)
            $0.write($1.access.rawValue)
        }
        write(plan.landlock.allowsTCP)
        write(plan.landlock.isLogged)
        write(plan.filter.bytes)
        write(plan.counted) {
            $0.write($1.number)
            $0.write(optional: $1.argument) { $0.write($1) }
        }
        write(plan.environment) {
            $0.write($1.name)
            $0.write($1.value)
        }
        write(plan.workingDirectory.text)
        write(plan.command) { $0.write($1) }
        write(plan.descriptors) {
            $0.write($1.number)
            $0.write($1.purpose.rawValue)
        }
    }

    private mutating func write(_ root: RootSource) {
        switch root {
        case .tree: write(UInt8(1))
        case .skeleton(let entries):
            write(UInt8(2))
            write(entries) { $0.write($1) }
        }
    }

    private mutating func write(_ entry: SkeletonEntry) {
        switch entry {
        case .directory(let path):
            write(UInt8(1))
            write(path.text)
        case .link(let path, let target):
            write(UInt8(2))
            write(path.text)
            write(target)
        case .file(let path, let contents):
            write(UInt8(3))
            write(path.text)
            write(contents)
        }
    }

    private mutating func write(_ mount: PlannedMount) {
        write(mount.target.text)
        switch mount.source {
        case .host(let source):
            write(UInt8(1))
            write(source)
        case .vault(let source):
            write(UInt8(2))
            write(source)
        case .tree(let index):
            write(UInt8(3))
            write(index)
        case .tmpfs(let size, let inodes):
            write(UInt8(4))
            write(size.bytes)
            write(inodes)
        case .treeFile(let index, let path):
            write(UInt8(5))
            write(index)
            write(path.text)
        }
        write(mount.access.rawValue)
        write(mount.isExecutable)
    }

    private mutating func write(_ source: PinnedSource) {
        write(source.path)
        write(source.device)
        write(source.inode)
        write(source.isDirectory)
    }

    private mutating func write(_ proc: ProcView) {
        switch proc {
        case .none: write(UInt8(0))
        case .pidOnly: write(UInt8(1))
        case .masked(let masks):
            write(UInt8(2))
            write(masks) { $0.write($1) }
        }
    }

    private mutating func write(_ limits: SandboxLimits) {
        write(limits.memory.bytes)
        write(limits.processes)
        write(limits.cpuPercent)
        write(limits.wallClock.count)
        write(optional: limits.cpuTime) { $0.write($1.count) }
        write(optional: limits.idle) { $0.write($1.count) }
        write(limits.output.bytes)
        write(limits.killsOnOutput)
        write(limits.openFiles)
        write(limits.fileSize.bytes)
        write(limits.objects)
    }
}

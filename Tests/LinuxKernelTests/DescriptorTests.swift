import HostKernel
import LinuxKernel
import Testing

@Suite("Descriptor")
struct DescriptorTests {
    private func number(_ body: () throws -> Void) -> String? {
        do {
            try body()
            return nil
        } catch let error as SystemError {
            return error.name
        } catch {
            return "\(error)"
        }
    }

    @Test("what is opened beneath a directory cannot leave it")
    func beneath() throws {
        let scratch = try Scratch()
        try scratch.makeDirectory("inside/deep")
        try scratch.write("inside/deep/file", "text")
        try scratch.write("outside", "secret")
        try scratch.link("inside/link", to: "deep/file")
        try scratch.link("inside/up", to: "..")
        try scratch.link("inside/absolute", to: "/etc")
        let inside = try scratch.directory.openBeneath("inside", [.directory])
        #expect(try inside.contents(of: "deep/file", limit: 99) == Array("text".utf8))
        #expect(number { _ = try inside.openBeneath("../outside", .read) } == "EXDEV")
        #expect(number { _ = try inside.openBeneath("deep/../../outside", .read) } == "EXDEV")
        #expect(number { _ = try inside.openBeneath("/etc/passwd", .read) } == "EXDEV")
        for name in ["link", "up/outside", "absolute/passwd", "absolute"] {
            #expect(number { _ = try inside.openBeneath(name, .read) } == "ELOOP", "\(name)")
        }
        #expect(number { _ = try inside.openBeneath("missing", .read) } == "ENOENT")
    }

    @Test("beneath does not cross into another mount, where inside does")
    func mounts() throws {
        let root = try Descriptor.open("/", [.directory])
        #expect(number { _ = try root.openBeneath("proc/self", [.directory, .path]) } != nil)
        #expect(number { _ = try root.openInside("/proc/sys", [.directory, .path]) } == nil)
    }

    @Test("a directory opened as if it were the root stays one, whatever the path")
    func inside() throws {
        let scratch = try Scratch()
        try scratch.write("file", "text")
        try scratch.link("link", to: "/file")
        for path in ["/file", "file", "/../file", "../../../file"] {
            #expect(try scratch.directory.openInside(path, .read).readAll(limit: 9).count == 4)
        }
        #expect(number { _ = try scratch.directory.openInside("/link", .read) } == "ELOOP")
    }

    @Test("no component of an absolute path may be a link")
    func withoutLinks() throws {
        let scratch = try Scratch()
        try scratch.makeDirectory("real")
        try scratch.write("real/file", "text")
        try scratch.link("link", to: "real")
        let path = scratch.path
        #expect(number { _ = try Descriptor.openWithoutLinks(path + "/real/file", .read) } == nil)
        for name in ["/link/file", "/link"] {
            let outcome = number { _ = try Descriptor.openWithoutLinks(path + name, .read) }
            #expect(outcome == "ELOOP", "\(name)")
        }
        #expect(number { _ = try Descriptor.open(path + "/link", .read) } == "ELOOP")
    }

    @Test("a file that is too long is refused, one that just fits is read")
    func limits() throws {
        let scratch = try Scratch()
        try scratch.write("file", String(repeating: "x", count: 100_000))
        let read = try scratch.directory.contents(of: "file", limit: 100_000)
        #expect(read.count == 100_000)
        #expect(
            number { _ = try scratch.directory.contents(of: "file", limit: 99_999) } == "EFBIG"
        )
    }

    @Test("reading a FIFO that nobody writes does not wait")
    func fifo() throws {
        let scratch = try Scratch()
        let made = try Spawn.run("/usr/bin/mkfifo", arguments: [scratch.path + "/fifo"])
        try #require(made.end.exitCode == 0)
        #expect(try scratch.directory.contents(of: "fifo", limit: 9).isEmpty)
        #expect(try FileStatus(of: "fifo", in: scratch.directory).kind == .other)
    }

    @Test("a file is replaced in one step, and a failure leaves the old one alone")
    func replace() throws {
        let scratch = try Scratch()
        try scratch.directory.replace("file", with: Array("one".utf8))
        try scratch.directory.replace("file", with: Array("two".utf8), permissions: 0o600)
        #expect(try scratch.text("file") == "two")
        #expect(try FileStatus(path: scratch.path + "/file").permissions == 0o600)
        try scratch.write(".file.new", "left by a crash")
        try scratch.directory.replace("file", with: Array("three".utf8))
        #expect(try scratch.text("file") == "three")
        #expect(try scratch.directory.entries().sorted() == ["file"])
        try scratch.makeDirectory("folder/below")
        #expect(number { try scratch.directory.replace("folder", with: [1]) } == "EISDIR")
        #expect(try scratch.directory.entries().sorted() == ["file", "folder"])
    }

    @Test("entries are all there, however many")
    func entries() throws {
        let scratch = try Scratch()
        let names = (0..<1500).map { "entry-with-a-rather-long-name-\($0)" }
        for name in names {
            _ = try scratch.directory.openBeneath(name, [.write, .createNew])
        }
        #expect(try scratch.directory.entries().sorted() == names.sorted())
        #expect(try scratch.directory.entries().count == names.count)
    }

    @Test("status tells kinds, links and sizes without following")
    func status() throws {
        let scratch = try Scratch()
        try scratch.write("file", "12345")
        try scratch.makeDirectory("folder")
        try scratch.link("link", to: "file")
        let kinds = try ["file", "folder", "link"].map {
            try FileStatus(of: $0, in: scratch.directory).kind
        }
        #expect(kinds == [.regular, .directory, .symbolicLink])
        let status = try FileStatus(path: scratch.path + "/file")
        #expect(status.size == 5 && status.linkCount == 1)
        #expect(try scratch.directory.linkText("link") == "file")
    }

    @Test("a lock is held by one open file at a time")
    func lock() throws {
        let scratch = try Scratch()
        try scratch.write("lock", "")
        let second = try Descriptor.open(scratch.path + "/lock", .read)
        do {
            let first = try Descriptor.open(scratch.path + "/lock", .read)
            #expect(try first.tryLock())
            #expect(try !second.tryLock())
            try first.unlock()
            #expect(try second.tryLock())
            try second.unlock()
            #expect(try first.tryLock())
        }
        // Closing gives the lock back, too.
        #expect(try second.tryLock())
    }

    @Test("a descriptor is closed when its last owner ends, its copies included")
    func ownership() throws {
        var pair = try DescriptorPair.pipe()
        let reader = pair.takeFirst()
        do {
            let writer = pair.takeSecond()
            let copy = try writer.duplicate()
            try copy.writeAll([1])
        }
        #expect(try reader.read(atMost: 9) == [1])
        // While anybody held the other end this would wait for ever.
        #expect(try reader.read(atMost: 9).isEmpty)
        var untaken = try DescriptorPair.pipe()
        let other = untaken.takeFirst()
        do { _ = consume untaken }
        #expect(try other.read(atMost: 9).isEmpty)
    }

    @Test("a writer that never waits takes what fits, and sets no flag for others")
    func neverWaits() throws {
        var pair = try DescriptorPair.pipe()
        let reader = pair.takeFirst()
        let writer = pair.takeSecond()
        let quick = try writer.writerThatNeverWaits()
        let block = [UInt8](repeating: 1, count: 65536)
        #expect(try quick.write(block) == 65536)
        let outcome = number { _ = try quick.write([2]) }
        #expect(outcome == "EAGAIN")
        #expect(try reader.read(atMost: 65536).count == 65536)
        // The original still waits: this write would be refused otherwise only when full.
        #expect(try writer.write(block) == 65536)
        #expect(try reader.read(atMost: 65536).count == 65536)
        var sockets = try DescriptorPair.sockets(keepsMessages: false)
        let far = sockets.takeFirst()
        let near = try sockets.takeSecond().writerThatNeverWaits()
        #expect(number { while true { _ = try near.write(block) } } == "EAGAIN")
        _ = try far.read(atMost: 1)
    }

    @Test("what was not given for writing is not opened for it")
    func notForWriting() throws {
        let scratch = try Scratch()
        let path = scratch.path + "/fifo"
        try #require(try Spawn.run("/usr/bin/mkfifo", arguments: [path]).end.exitCode == 0)
        let reader = try Descriptor.open(path, [.read, .nonBlocking])
        let name = try Descriptor.open(path, .path)
        let writer = try Descriptor.open(path, .write)
        for refused in [
            number { _ = try reader.writerThatNeverWaits().write([1]) },
            number { _ = try name.writerThatNeverWaits().write([1]) },
        ] { #expect(refused == "EBADF") }
        #expect(try writer.writerThatNeverWaits().write([7]) == 1)
        #expect(try reader.read(atMost: 9) == [7])
    }
}

@Suite("Messages")
struct MessageTests {
    @Test("bytes and descriptors arrive together, in order")
    func together() throws {
        var pair = try DescriptorPair.sockets(keepsMessages: true)
        let one = pair.takeFirst()
        let scratch = try Scratch()
        let other = pair.takeSecond()
        try scratch.write("a", "first")
        try scratch.write("b", "second")
        let first = try Descriptor.open(scratch.path + "/a", .read)
        let second = try Descriptor.open(scratch.path + "/b", .read)
        var list = DescriptorPlacements()
        list.add(first)
        list.add(second)
        try one.send([1, 2, 3], with: list)
        try one.send([4])
        var message = try other.receive()
        #expect(message.bytes == [1, 2, 3] && message.descriptorCount == 2)
        #expect(try message.takeDescriptor()?.readAll(limit: 99) == Array("first".utf8))
        #expect(try message.takeDescriptor()?.readAll(limit: 99) == Array("second".utf8))
        #expect(message.descriptorCount == 0)
        #expect(try other.receive().bytes == [4])
    }

    @Test("descriptors that nobody takes are closed")
    func untaken() throws {
        var pair = try DescriptorPair.sockets(keepsMessages: true)
        let one = pair.takeFirst()
        let other = pair.takeSecond()
        var pipe = try DescriptorPair.pipe()
        let reader = pipe.takeFirst()
        do {
            let writer = pipe.takeSecond()
            var list = DescriptorPlacements()
            for _ in 0..<8 { list.add(writer) }
            try one.send([1], with: list)
        }
        do { #expect(try other.receive().descriptorCount == 8) }
        #expect(try reader.read(atMost: 1).isEmpty)
    }

    @Test("a closed end is an empty message, and a message that does not fit is an error")
    func ends() throws {
        var pair = try DescriptorPair.sockets(keepsMessages: true)
        let other = pair.takeSecond()
        do {
            let one = pair.takeFirst()
            #expect(throws: SystemError.self) { _ = try other.receive(isWaiting: false) }
            try one.send([9])
        }
        #expect(try other.receive().bytes == [9])
        #expect(try other.receive().bytes.isEmpty)
    }
}

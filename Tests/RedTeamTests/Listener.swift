import HostKernel
import LinuxKernel
import Testing

/// A program that listens on the host's loopback, for whoever is not to reach it.
final class Listener {
    /// Its port.
    let port: Int
    private let pid: Int32
    private var input: Descriptor?
    private let output: Descriptor

    private static let program = """
        import socket, sys
        server = socket.create_server(("127.0.0.1", 0), backlog=64)
        print(server.getsockname()[1], flush=True)
        sys.stdin.read()
        server.setblocking(False)
        count = 0
        try:
            while server.accept():
                count += 1
        except BlockingIOError:
            print(count)
        """

    /// Starts it, and waits until it listens.
    init() throws {
        var inputs = try DescriptorPair.pipe()
        var outputs = try DescriptorPair.pipe()
        var placements = DescriptorPlacements()
        let reader = inputs.takeFirst()
        let writer = outputs.takeSecond()
        let errors = try Descriptor.copy(ofInherited: 2)
        placements.add(reader)
        placements.add(writer)
        placements.add(errors)
        pid = try Spawn.start(
            "/usr/bin/python3",
            arguments: ["-I", "-S", "-c", Self.program],
            environment: [],
            descriptors: placements
        )
        input = inputs.takeSecond()
        output = outputs.takeFirst()
        let line = String(decoding: try output.read(atMost: 64), as: UTF8.self)
        port = try #require(Int(line.dropLast()))
    }

    /// Ends it, and says how many connections it got.
    func close() throws -> Int {
        input = nil
        let line = String(decoding: try output.read(atMost: 64), as: UTF8.self)
        _ = try ProcessEnd.wait(for: pid)
        return try #require(Int(line.dropLast()))
    }
}

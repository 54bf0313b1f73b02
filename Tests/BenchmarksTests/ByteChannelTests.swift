import HostKernel
import Benchmarks
import LinuxKernel
import Testing

@Suite("A channel of bytes on the loop")
struct ByteChannelTests {
    /// A channel and the other end of its socket.
    final class Bench {
        let loop = EventLoop()
        let peer: Descriptor
        let channel: ByteChannel
        let log: Log

        final class Log {
            var bytes: [UInt8] = []
            var ends = 0
        }

        init(queueBytes: Int = 1 << 20) throws {
            CurrentProcess.ignorePipeSignal()
            var pair = try DescriptorPair.sockets(keepsMessages: false)
            let log = Log()
            self.log = log
            peer = pair.takeSecond()
            try peer.setNonBlocking(true)
            channel = try ByteChannel(pair.takeFirst(), on: loop, queueBytes: queueBytes) {
                switch $0 {
                case .bytes(let part): log.bytes += part
                case .end: log.ends += 1
                }
            }
        }

        func turn() throws { try loop.turn(atMost: .milliseconds(200)) }

        /// Everything the peer can read now.
        func received() throws -> Int {
            var count = 0
            while true {
                do throws(SystemError) {
                    count += try peer.read(atMost: 1 << 16).count
                } catch {
                    guard error.isWouldBlock else { throw error }
                    return count
                }
            }
        }
    }

    @Test("bytes arrive in order, then the end, once")
    func arrival() throws {
        let bench = try Bench()
        try bench.peer.writeAll([1, 2])
        try bench.turn()
        try bench.peer.writeAll([3])
        try bench.peer.shutDownSocket()
        while bench.log.ends == 0 { try bench.turn() }
        bench.channel.drain()
        #expect(bench.log.bytes == [1, 2, 3])
        #expect(bench.log.ends == 1)
        #expect(bench.channel.hasEnded)
    }

    @Test("what the peer does not read waits up to the bound and is delivered when it reads")
    func queue() throws {
        let bench = try Bench(queueBytes: 1 << 20)
        let part = [UInt8](repeating: 7, count: 1 << 20)
        #expect(bench.channel.send(part))
        #expect(bench.channel.send(Array(part.prefix(1000))))
        #expect(!bench.channel.send(part))
        var count = try bench.received()
        while count < 2 * part.count + 1000 {
            try bench.turn()
            count += try bench.received()
        }
        #expect(count == 2 * part.count + 1000)
        #expect(bench.channel.send(part))
    }

    @Test("bytes to a peer that is gone are dropped")
    func gone() throws {
        let bench = try Bench(queueBytes: 10)
        try bench.peer.shutDownSocket()
        for _ in 0..<3 { #expect(bench.channel.send([UInt8](repeating: 1, count: 5))) }
        try bench.turn()
        #expect(bench.channel.send([UInt8](repeating: 1, count: 50)))
        #expect(bench.log.ends == 1)
    }

    @Test("draining a peer that never stops writing comes to an end")
    func drain() throws {
        let bench = try Bench()
        try bench.peer.writeAll([UInt8](repeating: 1, count: 50_000))
        bench.channel.drain(atMost: 1000)
        #expect(bench.log.bytes.count >= 1000)
        #expect(bench.log.ends == 0)
    }

    @Test("nothing arrives after the channel was stopped")
    func stopped() throws {
        let bench = try Bench()
        bench.channel.stop()
        try bench.peer.writeAll([1])
        try bench.loop.turn(atMost: .milliseconds(1))
        #expect(bench.log.bytes.isEmpty)
        #expect(bench.log.ends == 0)
    }
}

import HostKernel
import LinuxKernel
import StrictJSON
import Supervisor
import Testing

@Suite("The stream of events")
struct EventStreamTests {
    /// A pipe whose reader the test is.
    private final class Pipe {
        let loop = EventLoop()
        let stream: EventStream
        private var reader: Descriptor?

        init(limit: Int = EventStream.room) throws {
            CurrentProcess.ignorePipeSignal()
            var pair = try DescriptorPair.pipe()
            reader = pair.takeFirst()
            let writer = pair.takeSecond()
            stream = EventStream(try writer.writerThatNeverWaits(), loop: loop, limit: limit)
        }

        func close() { reader = nil }

        /// What is there now, or until the loop has moved all.
        func lines(_ count: Int) throws -> [JSONValue] {
            var bytes: [UInt8] = []
            while bytes.count(where: { $0 == 0x0A }) < count {
                switch reader {
                case .some(let descriptor): bytes += try descriptor.read(atMost: 1 << 16)
                case .none: return []
                }
                try loop.turn(atMost: .milliseconds(0))
            }
            return try bytes.split(separator: 0x0A).map {
                try JSONValue(parsing: Array($0), limits: .document)
            }
        }
    }

    private func event(_ number: Int, _ size: Int = 0) -> JSONValue {
        [
            "kind": "test", "number": JSONValue(number),
            "text": .string(String(repeating: "x", count: size)),
        ]
    }

    @Test("events come as lines in their order")
    func order() throws {
        let pipe = try Pipe()
        for number in 0..<20 { pipe.stream.tell(event(number)) }
        #expect(try pipe.lines(20).map { $0["number"]?.intValue } == (0..<20).map { $0 })
        #expect(pipe.stream.lost == 0)
    }

    @Test("a reader that is behind gets all, later, as far as there is room")
    func behind() throws {
        let pipe = try Pipe()
        // Ten times what a pipe holds (64 KiB, pipe(7)).
        for number in 0..<640 { pipe.stream.tell(event(number, 1000)) }
        let lines = try pipe.lines(640)
        #expect(lines.map { $0["number"]?.intValue } == (0..<640).map { $0 })
        #expect(pipe.stream.lost == 0)
    }

    @Test("what there is no room for is counted, and the stream says how many")
    func lost() throws {
        let pipe = try Pipe(limit: 20_000)
        for number in 0..<200 { pipe.stream.tell(event(number, 1000)) }
        let lost = pipe.stream.lost
        #expect(lost > 50)
        let kept = try pipe.lines(200 - lost)
        #expect(kept.map { $0["number"]?.intValue } == (0..<(200 - lost)).map { $0 })
        pipe.stream.tell(event(1000))
        let rest = try pipe.lines(2)
        #expect(rest.first?["kind"] == "lost")
        #expect(rest.first?["count"]?.intValue == lost)
        #expect(rest.last?["number"] == 1000)
    }

    @Test("a reader that is gone is no error, and everything after it is counted")
    func gone() throws {
        let pipe = try Pipe()
        pipe.close()
        for number in 0..<5 { pipe.stream.tell(event(number)) }
        try pipe.stream.finish()
        #expect(pipe.stream.lost == 5)
    }

    @Test("a reader that never reads is waited for a moment, at the end alone")
    func stuck() throws {
        let pipe = try Pipe()
        for number in 0..<300 { pipe.stream.tell(event(number, 1000)) }
        let start = MonotonicTime.now
        try pipe.stream.finish()
        #expect(MonotonicTime.now.since(start) < .milliseconds(5000))
        #expect(pipe.stream.lost > 200)
    }

    @Test(
        "a place that is none is refused",
        arguments: ["fd:0", "fd:x", "fd:999", "/nowhere/events"]
    )
    func place(_ place: String) {
        #expect(throws: SupervisorError.self) { try EventStream.open(place) }
    }
}

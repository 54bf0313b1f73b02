import HostKernel
import LinuxKernel
import Testing

@Suite("EventLoop")
struct EventLoopTests {
    @Test("a descriptor that is ready is served until it is forgotten")
    func readable() throws {
        var pair = try DescriptorPair.pipe()
        let reader = pair.takeFirst()
        let writer = pair.takeSecond()
        let loop = EventLoop()
        var calls = 0
        let token = loop.watch(reader, .readable) { ready in
            #expect(ready == .readable)
            calls += 1
        }
        try loop.turn(atMost: Nanoseconds(0))
        #expect(calls == 0)
        try writer.writeAll([1])
        try loop.turn(atMost: .milliseconds(1000))
        try loop.turn(atMost: .milliseconds(1000))
        #expect(calls == 2)
        loop.change(token, to: [])
        try loop.turn(atMost: Nanoseconds(0))
        #expect(calls == 2)
        loop.change(token, to: .readable)
        try loop.turn(atMost: .milliseconds(1000))
        loop.forget(token)
        try loop.turn(atMost: Nanoseconds(0))
        #expect(calls == 3)
    }

    @Test("a closed other end counts as ready for whatever was asked")
    func hangUp() throws {
        var pair = try DescriptorPair.sockets(keepsMessages: false)
        let near = pair.takeFirst()
        do { _ = pair.takeSecond() }
        let loop = EventLoop()
        var seen: EventLoop.Interest = []
        let token = loop.watch(near, [.readable, .writable]) { seen = $0 }
        try loop.turn(atMost: .milliseconds(1000))
        #expect(seen == [.readable, .writable])
        loop.forget(token)
    }

    @Test("deadlines come in their order, once each, and not when forgotten")
    func deadlines() throws {
        let loop = EventLoop()
        let now = MonotonicTime.now
        var order: [Int] = []
        _ = loop.at(now.advanced(by: .milliseconds(20))) { order.append(2) }
        _ = loop.at(now.advanced(by: .milliseconds(5))) { order.append(1) }
        let forgotten = loop.at(now.advanced(by: .milliseconds(10))) { order.append(9) }
        _ = loop.at(now.advanced(by: .milliseconds(40))) { order.append(3) }
        loop.forget(forgotten)
        try loop.run(until: { order.count == 3 })
        #expect(order == [1, 2, 3])
        #expect(MonotonicTime.now.since(now) >= .milliseconds(40))
    }

    @Test("a deadline in the past comes at once, and a handler may set the next")
    func chained() throws {
        let loop = EventLoop()
        var count = 0
        func step() {
            count += 1
            if count < 100 { _ = loop.at(MonotonicTime.now) { step() } }
        }
        _ = loop.at(MonotonicTime.now) { step() }
        try loop.run(until: { count == 100 })
    }

    @Test("a handler that forgets another keeps it from being called in the same turn")
    func forgetsOther() throws {
        var first = try DescriptorPair.pipe()
        var second = try DescriptorPair.pipe()
        let (loop, readers) = (EventLoop(), [Box(first.takeFirst()), Box(second.takeFirst())])
        try first.takeSecond().writeAll([1])
        try second.takeSecond().writeAll([1])
        var calls = 0
        var tokens: [EventLoop.Token] = []
        for reader in readers {
            tokens.append(
                loop.watch(reader.descriptor, .readable) { _ in
                    calls += 1
                    for token in tokens { loop.forget(token) }
                }
            )
        }
        try loop.turn(atMost: .milliseconds(1000))
        #expect(calls == 1)
    }

    private final class Box {
        let descriptor: Descriptor
        init(_ descriptor: consuming Descriptor) { self.descriptor = descriptor }
    }

    @Test("a handler may run the loop itself until something else has happened")
    func nested() throws {
        let loop = EventLoop()
        var events: [String] = []
        var isInnerDone = false
        _ = loop.at(MonotonicTime.now) {
            events.append("outer")
            _ = loop.at(MonotonicTime.now) { isInnerDone = true }
            try? loop.run(until: { isInnerDone })
            events.append("after")
        }
        try loop.run(until: { events.count == 2 })
        #expect(events == ["outer", "after"])
    }

    @Test("a span is never negative, and times are ordered")
    func times() {
        let now = MonotonicTime.now
        let later = now.advanced(by: .milliseconds(7))
        #expect(later.since(now).milliseconds == 7)
        #expect(now.since(later) == Nanoseconds(0))
        #expect(Nanoseconds(-5) == Nanoseconds(0) && now < later)
        #expect(WallClock.milliseconds > 1_600_000_000_000)
    }

    private final class Witness {}

    @Test("a handler that holds its own token is gone once the token is forgotten")
    func cycle() throws {
        let loop = EventLoop()
        var pipe = try DescriptorPair.pipe()
        let reader = pipe.takeFirst()
        weak var witness: Witness?
        do {
            let held = Witness()
            witness = held
            var tokens: [EventLoop.Token] = []
            tokens.append(
                loop.watch(reader, .readable) { _ in withExtendedLifetime((held, tokens)) {} }
            )
            tokens.append(loop.at(.now) { withExtendedLifetime((held, tokens)) {} })
            #expect(witness != nil)
            loop.forget(tokens[0])
            // The deadline is forgotten when it is reached.
            try loop.turn(atMost: nil)
        }
        #expect(witness == nil)
    }
}

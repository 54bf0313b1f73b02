import HostKernel
import LinuxKernel
import Testing

@Suite("Counters of the host, and their padding", .serialized)
struct CounterPaddingTests {
    /// What a reader sees of a sender that makes this many objects: the difference between two of
    /// its own numbers, in batches, on its own processor.
    private func reading(
        of counter: ObjectCounter,
        objects: Int,
        isPadded: Bool
    ) throws(SystemError) -> UInt32 {
        let processors = try ProcessorSet.current()
        let reader = processors.single[0]
        let sender = processors.single[processors.single.count - 1]
        try reader.take()
        let before = try counter.next()
        try processors.take()
        let padding = try CounterPadding()
        try sender.take()
        for _ in 0..<objects { _ = try counter.next() }
        try processors.take()
        if isPadded { try padding.pad() }
        try reader.take()
        // A batch of its own, so that the control sees what another processor used up.
        for _ in 0..<ObjectCounter.batch { _ = try counter.next() }
        let after = try counter.next()
        try processors.take()
        return after &- before
    }

    @Test(
        "the instrument works: a later reader sees what was made",
        arguments: ObjectCounter.allCases
    )
    func control(counter: ObjectCounter) throws {
        let few = try reading(of: counter, objects: 0, isPadded: false)
        let many = try reading(of: counter, objects: 40_000, isPadded: false)
        #expect(many > few + 30_000)
    }

    /// How far apart the readings after several amounts are.
    private func spread(of counter: ObjectCounter, isPadded: Bool) throws(SystemError) -> UInt32 {
        let readings = try [0, 5_000, 15_000, 25_000].map { objects throws(SystemError) in
            try reading(of: counter, objects: objects, isPadded: isPadded)
        }
        return (readings.max() ?? 0) - (readings.min() ?? 0)
    }

    // What is left is where the reader stood in its batch before, and the rest of the host, which
    // makes objects when it likes: so the quietest of several tries counts. The control shows that no
    // try without padding is that quiet.
    @Test("after padding a reader sees the same of every amount", arguments: ObjectCounter.allCases)
    func padded(counter: ObjectCounter) throws {
        let bound = 4 * ObjectCounter.batch
        var spreads: [UInt32] = []
        while spreads.count < 8, spreads.last.map({ $0 >= bound }) ?? true {
            spreads.append(try spread(of: counter, isPadded: true))
        }
        #expect(spreads.contains { $0 < bound }, "spreads \(spreads)")
        #expect(try spread(of: counter, isPadded: false) >= bound)
    }

    @Test("more than the allowance is noticed, and padded to one other distance")
    func exceeded() throws {
        var padding = try CounterPadding()
        #expect(try !padding.isExceeded())
        let most = CounterPadding.leastAllowance + 2 * CounterPadding.allowanceOfLook
        for _ in 0...most { _ = try ObjectCounter.inode.next() }
        #expect(try padding.isExceeded())
        #expect(try padding.pad())
    }

    @Test("looking as long as a long exam lasts does not exceed anything")
    func looking() throws {
        var padding = try CounterPadding()
        // Each uses a batch up, and the least allowance is thirty-two.
        for _ in 0..<64 { #expect(try !padding.isExceeded()) }
        #expect(try padding.pad())
    }

    @Test("how often was looked does not show", arguments: [1, 12, 20])
    func hiddenLooks(looks: Int) throws {
        var differences: [UInt32] = []
        let home = try ProcessorSet.current()
        // The rest of the host makes objects, too: the quietest of several tries counts.
        for _ in 0..<4 {
            try home.single[0].take()
            let before = try ObjectCounter.inode.next()
            try home.take()
            var padding = try CounterPadding()
            for _ in 0..<looks { _ = try padding.isExceeded() }
            try padding.pad(asAfter: 20)
            try home.single[0].take()
            differences.append(try ObjectCounter.inode.next() &- before)
            try home.take()
        }
        let expected = CounterPadding.leastAllowance + 21 * CounterPadding.allowanceOfLook
        let least = differences.min() ?? 0
        #expect((expected..<expected + 4 * ObjectCounter.batch).contains(least), "\(differences)")
    }

    @Test("the processors of the thread are what they were")
    func processors() throws {
        let before = try ProcessorSet.current().single.count
        try CounterPadding().pad()
        #expect(try ProcessorSet.current().single.count == before)
    }
}

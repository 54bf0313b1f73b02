internal import Benchmarks
internal import HostKernel
internal import LinuxKernel

/// Keeps a sealed exam from writing messages into the host's object counters: looks at them while
/// it runs, ends it when they move too far, and pads them when it is over.
final class CounterWatch {
    /// The exam to end; nothing before it has begun.
    var exam: ExamRun?
    private let loop: EventLoop
    private var padding: CounterPadding
    private let grid: Int64
    private let beginning = WallClock.milliseconds
    private var token: EventLoop.Token?
    private var failure: SystemError?
    /// Whether it ended the exam because a counter moved too far.
    private(set) var isExceeded = false

    // A rollout makes some seventy objects (pipes, sockets, entries of procfs), a call of a model some
    // twenty where the provider is on this host: the connection, and the look-up of its name.
    private static let objectsOfRollout = 256
    private static let objectsOfCall = 32

    /// A quarter of a second: a fast machine makes some hundred thousand objects in it.
    private static let interval: Int64 = 250

    /// Begins to watch an exam.
    ///
    /// - Parameters:
    ///   - rollouts: how many it has.
    ///   - calls: how often each of them asks a model, at the most that is usual.
    ///   - grid: the grid of times at which results are told, counted from 1970, in milliseconds.
    ///   - loop: the supervisor's loop.
    /// - Throws: ``SupervisorError``.
    init(
        rollouts: Int,
        calls: Int,
        grid: Int64,
        loop: EventLoop
    ) throws(SupervisorError) {
        self.loop = loop
        self.grid = max(1, grid)
        padding = try system("note the host's object counters", "sealed exam") {
            () throws(SystemError) in
            let own = rollouts * Self.objectsOfRollout
            return try CounterPadding(
                extra: UInt32(clamping: own + rollouts * calls * Self.objectsOfCall)
            )
        }
        arm()
    }

    /// Looks no more.
    func end() {
        loop.forget(token)
        token = nil
        exam = nil
    }

    /// Moves the counters to where they are after every sealed exam; nothing of it runs any more.
    func pad() throws(SupervisorError) {
        try system("pad the host's object counters", "sealed exam") { () throws(SystemError) in
            if let failure { throw failure }
            try padding.pad(asAfter: looksOfSlot)
        }
    }

    // As many as there would have been at the end of the slot: which one that is, is told anyway.
    private var looksOfSlot: UInt32 {
        let now = WallClock.milliseconds
        let end = (now + grid - 1) / grid * grid
        return UInt32(clamping: (end - beginning) / Self.interval + 1)
    }

    private func arm() {
        token = loop.at(MonotonicTime.now.advanced(by: .milliseconds(UInt64(Self.interval)))) {
            [unowned self] in look()
        }
    }

    private func look() {
        do throws(SystemError) {
            guard try padding.isExceeded() else { return arm() }
            isExceeded = true
            exam?.cancel(
                because: "pipes, sockets or memory files were made in such number during a sealed "
                    + "exam that it could be a message in the kernel's counters; if other programs of this host did it, run again when it is quieter"
            )
        } catch {
            failure = error
            exam?.cancel(because: "the host's object counters cannot be read: \(error)")
        }
    }
}

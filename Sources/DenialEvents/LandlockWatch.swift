internal import HostKernel
public import LauncherClient
public import LinuxKernel

/// Hears the host's audit records and counts what Landlock refused our sandboxes.
///
/// Records come from the kernel's own queue, in which those that find no room are dropped and counted:
/// nobody waits for us. We read a bounded number of them at a time and then let the loop do its work.
public final class LandlockWatch {
    /// Called from the loop when there is more of a sandbox, a few times a second at most.
    public var onChange: (RunningSandbox) -> Void = { _ in }

    private let socket: Descriptor
    private let loop: EventLoop
    private var counts = LandlockCounts()
    private var sandboxes: [UInt32: RunningSandbox] = [:]
    private var changed: Set<UInt32> = []
    private var hasFailed = false
    private var token: EventLoop.Token?
    private var pause: EventLoop.Token?
    private var notice: EventLoop.Token?

    // As many as a turn of the loop may take, and the pause after them.
    private static let batch = 128
    private static let rest = Nanoseconds.milliseconds(10)
    private static let interval = Nanoseconds.milliseconds(200)
    private static let mostSandboxes = 1024
    // More than any record is long.
    private static let longestMessage = 16_384
    private static let grace = Nanoseconds.milliseconds(100)
    private static let longest = Nanoseconds.milliseconds(2000)
    private static let step = Nanoseconds.milliseconds(20)

    /// Counts for the sandboxes that a launcher starts from now on.
    ///
    /// - Parameters:
    ///   - socket: hears records; it was opened while we were root.
    ///   - launcher: whose sandboxes these are; its ``LauncherClient/onLaunched`` is ours.
    public init(_ socket: consuming Descriptor, of launcher: LauncherClient) {
        self.socket = socket
        loop = launcher.loop
        launcher.onLaunched = { [weak self] sandbox in self?.expect(sandbox) }
        listen()
    }

    deinit {
        for token in [token, pause, notice] { loop.forget(token) }
    }

    /// How often the kernel said that records are gone which we did not read in time.
    public var losses: UInt64 { counts.losses }

    /// What was counted of a sandbox so far.
    public func events(of sandbox: RunningSandbox) -> [DenialEvent] {
        sandbox.tellsDenials ? counts.events(of: sandbox.user) : []
    }

    /// Reads what is still to come of a sandbox that has ended: a tenth of a second where nothing of it
    /// was refused, and otherwise until the record that ends its domain, at most two seconds.
    public func settle(_ sandbox: RunningSandbox) {
        read(atMost: Self.longest) { span in
            guard counts.events(of: sandbox.user).isEmpty else {
                return counts.isOpen(sandbox.user)
            }
            return span < Self.grace
        }
    }

    /// Reads what has come by now, and for a tenth of a second what is to come of sandboxes that have
    /// ended; tells of every sandbox of which there is more.
    public func catchUp() {
        readBatch()
        read(atMost: Self.grace) { _ in
            sandboxes.values.contains { $0.exit != nil && counts.isOpen($0.user) }
        }
        tell()
    }

    private func read(atMost limit: Nanoseconds, while goesOn: (_ span: Nanoseconds) -> Bool) {
        let begin = MonotonicTime.now
        let own = EventLoop()
        while !hasFailed {
            let span = MonotonicTime.now.since(begin)
            guard span < limit, goesOn(span) else { return }
            var isReady = false
            let token = own.watch(socket, .readable) { _ in isReady = true }
            // A loop that fails has nobody waiting for records.
            do throws(SystemError) { try own.turn(atMost: Self.step) } catch { return }
            own.forget(token)
            if isReady { readBatch() }
        }
    }

    /// Drops what was counted of sandboxes that are gone.
    public func forgetEnded() {
        for sandbox in sandboxes.values where sandbox.exit != nil { forget(sandbox) }
    }

    private func forget(_ sandbox: RunningSandbox) {
        counts.forget(sandbox.user)
        sandboxes[sandbox.user] = nil
    }

    // MARK: - records

    private func expect(_ sandbox: RunningSandbox) {
        if sandboxes.count >= Self.mostSandboxes { forgetEnded() }
        sandboxes[sandbox.user] = sandbox
        counts.expect(sandbox.user)
    }

    private func listen() {
        pause = nil
        token = loop.watch(socket, .readable) { [unowned self] _ in
            guard readBatch() else { return }
            loop.forget(token)
            token = nil
            guard !hasFailed else { return }
            pause = loop.at(.now.advanced(by: Self.rest)) { [unowned self] in listen() }
        }
    }

    // Whether there may be more than was read.
    @discardableResult
    private func readBatch() -> Bool {
        for _ in 0..<Self.batch where !hasFailed {
            do throws(SystemError) {
                let message = try socket.read(atMost: Self.longestMessage)
                if let user = counts.note(message) { noteChange(user) }
            } catch {
                if error.isWouldBlock { return false }
                counts.lose()
                // Any other error is the socket's end, after which there is nothing to hear.
                hasFailed = !error.isOverrun
            }
        }
        return true
    }

    private func noteChange(_ user: UInt32) {
        changed.insert(user)
        guard notice == nil else { return }
        notice = loop.at(.now.advanced(by: Self.interval)) { [unowned self] in tell() }
    }

    private func tell() {
        loop.forget(notice)
        notice = nil
        let users = changed
        changed = []
        for user in users.sorted() {
            guard let sandbox = sandboxes[user], sandbox.tellsDenials else { continue }
            onChange(sandbox)
        }
    }
}

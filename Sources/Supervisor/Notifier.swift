// The operator's hooks, told of events while the night goes on.
//
// The supervisor has no right to start anything of the operator's and no network. So a second process of
// ours is started while we are root; it becomes the owner of the experiment's directory and has the
// operator's own network. Its hooks are fixed then (`FixedHooks`); after that it gets the place of a hook
// and one event at a time, and answers whether the hook took it. Nothing here waits while a run is on, and
// what a hook does changes nothing but what is told of it.

internal import HostKernel
package import LinuxKernel
package import StrictJSON
package import Workspace

/// Tells the operator's hooks.
package final class Notifier {
    // What happens faster than hooks can be told is not worth a night's memory.
    private static let mostWaiting = 100

    private struct Order {
        let hook: NotifySettings.Hook
        let kind: String
        let message: [UInt8]
    }

    private let settings: NotifySettings
    private let link: PublisherLink
    private let loop: EventLoop
    private var waiting: [Order] = []
    private var current: Order?
    private var deadline: EventLoop.Token?
    private var isLost = false
    private var failed: Set<String> = []
    /// How many times a hook could not be told.
    package private(set) var failures = 0
    /// Told the hook, the event's kind and the reason, once for each hook.
    package var onFailure: (String, String, String) -> Void = { _, _, _ in }

    /// Speaks with a process that was started.
    ///
    /// - Parameters:
    ///   - link: the process.
    ///   - settings: who is told of what.
    ///   - loop: the loop of this process.
    package init(_ link: PublisherLink, _ settings: NotifySettings, loop: EventLoop) {
        self.link = link
        self.settings = settings
        self.loop = loop
        link.watch(on: loop) { [unowned self] reply in take(reply) }
    }

    /// Tells an event to every hook that wants to know.
    package func tell(_ event: [String: JSONValue]) {
        let occasions = NightEvent.occasions(of: event).intersection(settings.occasions)
        guard !occasions.isEmpty else { return }
        var told = event
        told["on"] = JSONValue(occasions.map(\.rawValue).sorted())
        for (place, hook) in settings.hooks.enumerated() {
            let order = Order(
                hook: hook,
                kind: event["kind"]?.stringValue ?? "",
                message: FixedHooks.order(place, .object(told))
            )
            guard !isLost, waiting.count < Self.mostWaiting else {
                note(order, isLost ? "the process that tells hooks is gone" : "too many wait")
                continue
            }
            waiting.append(order)
        }
        next()
    }

    /// Waits until every hook was told, at most as long as two of them may take.
    package func settle() throws(SupervisorError) {
        let limit = UInt64(clamping: settings.timeout.wholeMilliseconds) * 2 + 2_000
        let end = MonotonicTime.now.advanced(by: .milliseconds(limit))
        while current != nil, !isLost, MonotonicTime.now < end {
            try system("tell the operator's hooks", "notify") { () throws(SystemError) in
                try loop.turn(atMost: .milliseconds(50))
            }
        }
        if current != nil { lose("it did not answer before the end of the run") }
    }

    /// Lets the process go.
    package func end() {
        loop.forget(deadline)
        link.close()
        isLost = true
    }

    private func next() {
        guard current == nil, !waiting.isEmpty else { return }
        let order = waiting.removeFirst()
        current = order
        // The process ends what takes longer by itself; this is for one that hangs.
        let limit = UInt64(clamping: settings.timeout.wholeMilliseconds) + 10_000
        deadline = loop.at(MonotonicTime.now.advanced(by: .milliseconds(limit))) {
            [unowned self] in lose("it did not answer within \(limit / 1000) s")
        }
        if !link.send(order.message) { lose("it ended") }
    }

    private func take(_ reply: PublisherReply?) {
        guard !isLost else { return }
        guard let order = current else { return lose("it spoke out of turn") }
        switch reply {
        case .done: break
        case .failed(let reason): note(order, reason)
        case .kept, nil: return lose("it ended")
        }
        loop.forget(deadline)
        current = nil
        next()
    }

    private func lose(_ reason: String) {
        end()
        let orders = (current.map { [$0] } ?? []) + waiting
        current = nil
        waiting = []
        for order in orders { note(order, "the process that tells hooks: \(reason)") }
    }

    private func note(_ order: Order, _ reason: String) {
        failures += 1
        guard failed.insert(order.hook.word).inserted else { return }
        onFailure(order.hook.word, order.kind, reason)
    }
}

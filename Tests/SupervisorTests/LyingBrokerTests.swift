import BrokerClient
import BrokerProtocol
import Foundation
import HostKernel
@_spi(KernelHandles) import LinuxKernel
import ModelDialects
import Supervisor
import Testing

private func event(_ listener: Int, _ role: ModelRole? = nil) -> BrokerReport {
    .event(listener: listener, role: role, ModelEvent(.badRequest, "x"))
}

private func failure(_ listener: Int?) -> BrokerReport {
    let text = "\u{1B}[2J\n" + String(repeating: "x", count: 40_000)
    return .failed(
        listener: listener,
        BrokerFailure(operation: text, location: text, reason: text, remedy: text)
    )
}

@Suite("A broker that lies", .timeLimit(.minutes(1)))
struct LyingBrokerTests {
    // MARK: - what no broker can say

    enum Lie: String, CaseIterable {
        case callElsewhere, spendingElsewhere, eventElsewhere, arrivalElsewhere, failureElsewhere
        case callOfAnotherRole, eventOfAnotherRole
        case ready, configured, opened, closed
        case negativeTokens, negativeCost, hugeNumber
        case noJSON, twice, extraMember, unknownType, deep, longText, empty, descriptor

        /// What the gap says of it.
        var reason: String {
            switch self {
            case .callElsewhere, .spendingElsewhere, .eventElsewhere, .arrivalElsewhere,
                .failureElsewhere:
                "not open"
            case .callOfAnotherRole, .eventOfAnotherRole: "of another role"
            case .ready, .configured, .opened, .closed: "what nobody asked"
            case .negativeTokens, .negativeCost, .hugeNumber, .noJSON, .twice, .extraMember,
                .unknownType, .deep, .longText, .empty, .descriptor:
                "serve models"
            }
        }

        func say(_ run: LyingBroker.Run, of listener: Int) throws(SystemError) {
            let text = String(decoding: call(listener).bytes, as: UTF8.self)
            func bytes(_ old: String, _ new: String) -> [UInt8] {
                Array(text.replacingOccurrences(of: old, with: new).utf8)
            }
            switch self {
            case .callElsewhere: try run.say(call(listener + 1))
            case .spendingElsewhere: try run.say(spending(listener + 1))
            case .eventElsewhere: try run.say(event(listener + 1))
            case .arrivalElsewhere: try run.say(.arrived(listener: 0))
            case .failureElsewhere: try run.say(failure(listener + 1))
            case .callOfAnotherRole: try run.say(call(listener, role: .judge))
            case .eventOfAnotherRole: try run.say(event(listener, .codingAgent))
            case .ready: try run.say(.ready)
            case .configured: try run.say(.configured)
            case .opened: try run.say(.opened(listener: listener))
            case .closed: try run.say(.closed(listener: listener, ListenerTotals()))
            case .negativeTokens: try run.say(call(listener, tokens: -1))
            case .negativeCost:
                try run.say(bytes("\"microdollars\":1", "\"microdollars\":-9007199254740991"))
            case .hugeNumber: try run.say(bytes("\"input_tokens\":1", "\"input_tokens\":1e400"))
            case .noJSON: try run.say(Array("GET / HTTP/1.1\r\n".utf8))
            case .twice: try run.say(bytes("{", "{\"cut\":true,"))
            case .extraMember: try run.say(bytes("{", "{\"a\":1,"))
            case .unknownType: try run.say(bytes("\"call\"", "\"verdict\""))
            case .deep: try run.say([UInt8](repeating: UInt8(ascii: "["), count: 100_000))
            case .longText:
                let text = String(repeating: "x", count: 140_000)
                try run.say(bytes("\"model\":\"m\"", "\"model\":\"\(text)\""))
            case .empty: try run.say([])
            case .descriptor:
                let file = try Descriptor.open("/dev/null", .read)
                do throws(SystemError) { try run.say(event(listener), with: file) } catch {
                    // The kernel refused it, as it should; the test wants to see the broker end.
                    guard error.number == EPERM else { throw error }
                    try run.say([])
                }
            }
        }
    }

    @Test(
        "what no broker can say ends it as one that is lost, and another serves",
        arguments: Lie.allCases
    )
    func lies(_ lie: Lie) throws {
        let broker = LyingBroker { run in
            try run.serve { request in
                guard run.number == 0, case .open(let terms) = request else { return false }
                try run.say(.opened(listener: terms.listener))
                try lie.say(run, of: terms.listener)
                return true
            }
        }
        let bench = try LiedTo(broker)
        let listener = try bench.serve()
        try bench.turn { !bench.gaps.isEmpty || !bench.ends.isEmpty }
        #expect(bench.gaps.count == 1 && bench.gapsInExam.count == 1 && bench.ends.isEmpty)
        #expect(bench.gaps.first?.contains(lie.reason) == true, "\(bench.gaps)")
        #expect(broker.starts == 2 && bench.events.isEmpty)
        let usage = try #require(bench.service.takeUsage())
        #expect(usage.gaps == 1 && usage.shares.isEmpty && usage.events.isEmpty)
        // The one in its place has the sandbox, too.
        try bench.service.close(listener)
        #expect(broker.starts == 2)
    }

    @Test(
        "what is said of a listener that was closed ends the broker, before it takes a number back"
    )
    func afterClose() throws {
        let broker = LyingBroker { run in
            try run.serve { request in
                guard run.number == 0, case .close(let listener) = request else { return false }
                try run.say(call(listener))
                try run.say(.closed(listener: listener, ListenerTotals()))
                try run.say(call(listener))
                return true
            }
        }
        let bench = try LiedTo(broker)
        try bench.service.close(try bench.serve())
        try bench.turn { !bench.gaps.isEmpty }
        #expect(bench.gaps.first?.contains("not open") == true)
        #expect(bench.service.takeUsage()?.shares[.candidate]?.calls == 1)
    }

    // MARK: - without end

    @Test(
        "reports without end during a request are counted as they come, and the request ends in time"
    )
    func endlessDuringRequest() throws {
        let broker = LyingBroker { run in
            try run.serve { request in
                guard run.number == 0, case .open(let terms) = request else { return false }
                try run.sayForever(call(terms.listener))
                return true
            }
        }
        let bench = try LiedTo(broker, answer: 1000)
        let before = MonotonicTime.now
        _ = try bench.serve()
        #expect(MonotonicTime.now.since(before) < .milliseconds(5000))
        #expect(bench.gaps.count == 1 && broker.starts == 2)
        // Counted already, although the loop has not turned: nothing waits in memory.
        let usage = try #require(bench.service.takeUsage())
        #expect((usage.shares[.candidate]?.calls ?? 0) > 100)
        try bench.turn(atMost: 0.2) { false }
        #expect(bench.service.takeUsage() == nil)
    }

    @Test("reports without end from the loop cost no rows, and whatever else waits has its turn")
    func endlessFromLoop() throws {
        let broker = LyingBroker { run in
            try run.serve { request in
                guard case .open(let terms) = request else { return false }
                try run.say(.opened(listener: terms.listener))
                while true {
                    try run.say(call(terms.listener))
                    try run.say(event(terms.listener))
                    try run.say(failure(nil))
                    try run.say(.arrived(listener: terms.listener))
                }
            }
        }
        let bench = try LiedTo(broker)
        let listener = try bench.serve()
        try bench.service.setHeld(listener, true)
        var turns = 0
        func tick() {
            turns += 1
            _ = bench.loop.at(MonotonicTime.now.advanced(by: .milliseconds(1))) { tick() }
        }
        tick()
        var calls = 0
        try bench.turn {
            calls += bench.service.takeUsage()?.shares[.candidate]?.calls ?? 0
            return calls > 1000 && turns > 100
        }
        #expect(calls > 1000 && turns > 100)
        // One event of its kind, some failures, and one arrival of a hold.
        #expect(bench.events.count <= 11 && bench.arrivals == [listener])
        for event in bench.events {
            #expect(event.detail.utf8.count <= ModelEvent.detailLimit)
            #expect(event.detail.utf8.allSatisfy { (0x20..<0x7F).contains($0) })
        }
    }

    @Test("numbers beyond every measure spend a budget, and overflow nothing")
    func huge() throws {
        let most = (1 << 53) - 1
        let broker = LyingBroker { run in
            try run.serve { request in
                guard case .open(let terms) = request else { return false }
                try run.say(.opened(listener: terms.listener))
                for _ in 0..<3000 { try run.say(call(terms.listener, tokens: most)) }
                return true
            }
        }
        let bench = try LiedTo(broker, budget: "{sandbox: {tokens: 100}, campaign: {tokens: 100}}")
        let listener = try bench.serve()
        var calls = 0
        try bench.turn {
            calls += bench.service.takeUsage()?.shares[.candidate]?.calls ?? 0
            return calls == 3000
        }
        #expect(calls == 3000 && bench.gaps.isEmpty)
        #expect(bench.service.isSpent(for: .candidate) && !bench.service.isSpent(for: .codingAgent))
        try bench.service.beginIteration()
        try bench.service.close(listener)
        #expect(bench.gaps.isEmpty)
    }

    // MARK: - silence

    @Test(
        "a broker that never begins, or is not configured, is given up",
        arguments: [true, false]
    )
    func silentStart(_ isReady: Bool) throws {
        let broker = LyingBroker { run in
            if isReady { try run.say(.ready) }
            while try run.next() != nil {}
        }
        let before = MonotonicTime.now
        #expect(throws: SupervisorError.self) { try LiedTo(broker, isSlow: false) }
        #expect(MonotonicTime.now.since(before) < .milliseconds(5000))
        #expect(broker.starts == 1)
    }

    @Test("a broker that never says closed is ended, and only then the sandbox counts as gone")
    func neverClosed() throws {
        let broker = LyingBroker { run in
            try run.serve { request in
                guard run.number == 0, case .close = request else { return false }
                return true
            }
        }
        let bench = try LiedTo(broker, answer: 1000)
        let (one, other) = (try bench.serve(), try bench.serve())
        try bench.service.close(one)
        #expect(bench.gaps.count == 1 && bench.gapsInExam.count == 1 && broker.starts == 2)
        let opened = broker.requests.compactMap { request -> Int? in
            if case .open(let terms) = request { terms.listener } else { nil }
        }
        #expect(opened == [one, other, other])
        try bench.service.close(other)
        #expect(broker.starts == 2)
    }

    @Test("a broker that says closed and keeps the listener has nobody listening there")
    func keptListener() throws {
        let broker = LyingBroker(isKeeping: true) { run in try run.serve() }
        let bench = try LiedTo(broker)
        let listener = try bench.serve()
        let kept = try #require(broker.keptDescriptors.first)
        #expect(Self.listens(kept))
        try bench.service.close(listener)
        #expect(!Self.listens(kept))
        #expect(bench.gaps.isEmpty)
    }

    // Whether it takes connections (SO_ACCEPTCONN, socket(7)).
    private static func listens(_ kept: LyingBroker.Kept) -> Bool {
        var answer: Int32 = -1
        var size = socklen_t(MemoryLayout<Int32>.size)
        // Safety: the kernel writes one integer of the size that it is told.
        _ = unsafe getsockopt(
            kept.descriptor.number,
            SOL_SOCKET,
            SO_ACCEPTCONN,
            &answer,
            &size
        )
        return answer == 1
    }

    @Test("a broker that reads nothing is given up where its socket is full")
    func deaf() throws {
        let broker = LyingBroker { run in
            guard run.number == 0 else { return try run.serve() }
            try run.serve { request in
                guard case .open(let terms) = request else { return false }
                try run.say(.opened(listener: terms.listener))
                // Until the test is over.
                Thread.sleep(forTimeInterval: 20)
                return true
            }
        }
        let bench = try LiedTo(broker)
        let listener = try bench.serve()
        for turn in 0..<5000 where bench.gaps.isEmpty {
            try bench.service.setHeld(listener, turn % 2 == 0)
        }
        #expect(bench.gaps.count == 1 && broker.starts == 2)
    }

    @Test("brokers that are lost again and again are the end of the run, and not of the night")
    func always() throws {
        let broker = LyingBroker { run in
            try run.serve { request in
                guard case .open(let terms) = request else { return false }
                try run.say(.opened(listener: terms.listener))
                try run.say(.ready)
                return true
            }
        }
        let bench = try LiedTo(broker)
        _ = try bench.serve()
        try bench.turn { !bench.ends.isEmpty }
        #expect(bench.ends.count == 1 && broker.starts == 21)
        #expect(bench.service.takeUsage()?.gaps == 21)
    }

    @Test(
        "a refusal of the broker is its words on one line, whatever they are, and no other is asked"
    )
    func refuses() throws {
        let broker = LyingBroker { run in
            try run.serve { request in
                guard case .open(let terms) = request else { return false }
                try run.say(failure(terms.listener))
                return true
            }
        }
        let bench = try LiedTo(broker)
        let error = try #require(throws: SupervisorError.self) { try bench.serve() }
        #expect(error.description.utf8.count < 5000 && !error.description.contains("\u{1B}"))
        #expect(!error.description.contains("\n") && broker.starts == 1)
    }
}

internal import HostKernel
package import LinuxKernel
package import StrictJSON

// Who waits for others of this host, for whom and since when: for the operator's eyes, never for a coding
// agent's. It names other experiments by their ids, which every operator of this host can list.

extension TurnWait {
    /// The wait as a line for people.
    ///
    /// - Parameter now: the moment.
    /// - Returns: the line.
    package func text(at now: MonotonicTime) -> String {
        Self.text(who, why, experiment, seconds: now.since(since).milliseconds / 1000)
    }

    /// The same of a wait as ``members`` say it.
    ///
    /// - Parameters:
    ///   - members: what a supervisor answered.
    ///   - now: the moment, in milliseconds since 1970.
    /// - Returns: the line; absent where it says no wait that this version knows.
    package static func text(of members: JSONValue, at now: Int64) -> String? {
        guard let who = members["who"]?.stringValue.flatMap(Who.init(rawValue:)),
            let why = members["why"]?.stringValue.flatMap(Why.init(rawValue:)),
            let since = members["since"]?.integerValue
        else { return nil }
        let seconds = UInt64(max(0, now - since)) / 1000
        return text(who, why, members["for"]?.stringValue, seconds: seconds)
    }

    private static func text(
        _ who: Who,
        _ why: Why,
        _ experiment: String?,
        seconds: UInt64
    ) -> String {
        let name = experiment.map { " of experiment \($0)" } ?? " of another experiment"
        let waits =
            switch who {
            case .codingAgent: "the coding agent is"
            case .sealedExam: "the sealed exam is"
            }
        let whom =
            switch why {
            case .sealedExam: "a sealed exam\(name)"
            case .codingAgent: "the coding agent\(name), which waited before and has its time,"
            }
        return "\(waits) waiting for \(whom) since \(seconds) s"
    }

    /// The wait for programs; a moment is in milliseconds since 1970.
    package var members: [String: JSONValue] {
        let span = Int64(clamping: MonotonicTime.now.since(since).milliseconds)
        return [
            "who": .string(who.rawValue), "why": .string(why.rawValue),
            "for": experiment.map { .string($0) } ?? .null,
            "since": .integer(WallClock.milliseconds - span),
        ]
    }
}

/// What is told of waits: each that lasts, once it does, and its end.
package struct TurnTelling {
    /// What is to be told now.
    package enum Told: Sendable, Equatable {
        /// Somebody waits.
        case waiting(TurnWait)
        /// The same wait is still on, and a person may wonder.
        case stillWaiting(TurnWait)
        /// A wait that was told is over.
        case waited(TurnWait.Who, Nanoseconds)
    }

    /// A shorter wait is nobody's concern: supervisors look for their turn twenty times a second.
    static let least = Nanoseconds.milliseconds(1000)
    private static let again = Nanoseconds.milliseconds(30_000)
    private var told: [TurnWait.Who: (wait: TurnWait, at: MonotonicTime)] = [:]

    /// Begins.
    package init() {}

    /// Compares who waits now with what was told.
    ///
    /// - Parameters:
    ///   - waits: who waits now.
    ///   - now: the moment.
    /// - Returns: what is to be told.
    package mutating func note(_ waits: [TurnWait], at now: MonotonicTime) -> [Told] {
        var news: [Told] = []
        for who in [TurnWait.Who.codingAgent, .sealedExam] {
            let wait = waits.first { $0.who == who }
            if let last = told[who], wait?.since != last.wait.since {
                news.append(.waited(who, now.since(last.wait.since)))
                told[who] = nil
            }
            guard let wait, now.since(wait.since) >= Self.least else { continue }
            guard let last = told[who] else {
                news.append(.waiting(wait))
                told[who] = (wait, now)
                continue
            }
            // One who waits in a long line is told of each who goes before, but not of every look.
            guard now.since(last.at) >= (wait == last.wait ? Self.again : Self.least) else {
                continue
            }
            news.append(wait == last.wait ? .stillWaiting(wait) : .waiting(wait))
            told[who] = (wait, now)
        }
        return news
    }
}

extension Supervision {
    /// Has waits for others, and who is passed over in the line, told to whoever watches.
    func report(waitsTo progress: @escaping (String) -> Void) {
        reportWait = progress
        turn.onPassedOver = { pid in
            progress(
                "process \(pid) is before us in the line for a turn, and is stopped: it is passed over until"
                    + " it goes on (kill -CONT \(pid))"
            )
        }
    }

    /// Tells who of ours waits for others: a line of progress, and an event.
    func tellWaits() {
        let now = MonotonicTime.now
        for news in waits.note([turn.agentWait, turn.examWait].compactMap(\.self), at: now) {
            switch news {
            case .waiting(let wait):
                reportWait(wait.text(at: now))
                tellWait("waiting", wait.members)
            case .stillWaiting(let wait): reportWait(wait.text(at: now))
            case .waited(let who, let span):
                var members: [String: JSONValue] = [
                    "who": .string(who.rawValue), "milliseconds": Self.milliseconds(span),
                ]
                if who == .codingAgent { members["agent_time"] = agentTime }
                tellWait("waited", members)
            }
        }
    }

    /// How long the coding agent of this run ran and waited for others.
    var agentTime: JSONValue {
        [
            "ran_ms": Self.milliseconds(turn.time.ran),
            "waited_ms": Self.milliseconds(turn.time.waited),
        ]
    }

    private static func milliseconds(_ span: Nanoseconds) -> JSONValue {
        .integer(Int64(clamping: span.milliseconds))
    }

    private func tellWait(_ kind: String, _ members: [String: JSONValue]) {
        let event = NightEvent.begun(
            kind,
            at: WallClock.milliseconds,
            experiment: inputs.experiment.id
        )
        events?.tell(.object(event.merging(members) { $1 }))
    }
}

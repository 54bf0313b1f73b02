public import ExamResults
public import StrictJSON

/// One verdict, as the examiner wrote it on its verdict channel.
public struct VerdictFrame: Sendable, Equatable {
    /// The rollout.
    public let session: SessionID
    /// The task that the examiner believes it judged.
    public let task: TaskID
    /// What the rollout earned.
    public let reward: Reward
    /// Why, in the benchmark's own words; for train tasks only, empty in a sealed exam.
    public let detail: [String: JSONValue]

    /// Reads a verdict.
    ///
    /// - Parameter value: the frame's payload.
    /// - Throws: ``FrameError``, also for a reward that is no number from 0 to 1.
    public init(_ value: JSONValue) throws(FrameError) {
        var reader = try FrameReader(value, location: "verdict")
        guard try reader.text("type", maximumBytes: 32) == "verdict" else { throw .unknownType }
        session = try reader.session()
        task = try reader.task()
        reward = try reader.reward()
        detail = reader.isPresent("detail") ? try reader.members("detail") : [:]
        try reader.finish()
    }

    private init(_ verdict: VerdictFrame, detail: [String: JSONValue]) {
        session = verdict.session
        task = verdict.task
        reward = verdict.reward
        self.detail = detail
    }

    /// The same verdict without its reasons.
    var sealed: VerdictFrame { VerdictFrame(self, detail: [:]) }
}

/// What was wrong on the verdict channel; each voids the exam.
public enum VerdictFault: Error, Sendable, Equatable {
    /// A frame that is no verdict.
    case malformed(FrameError)
    /// A verdict for a session that was never begun.
    case unknownSession(SessionID)
    /// A verdict that names another task than the session's.
    case wrongTask(SessionID)
    /// A second verdict for a session.
    case repeated(SessionID)
    /// A verdict for a session whose candidate was declared gone.
    case withdrawn(SessionID)
}

extension VerdictFault: CustomStringConvertible {
    /// Operation, location, reason and remedy on one line.
    public var description: String {
        let remedy = "remedy: correct the benchmark's examiner; the exam is void"
        return switch self {
        case .malformed(let error): "read verdict: \(error); \(remedy)"
        case .unknownSession(let session):
            "read verdict: session \(session): it was never begun; \(remedy)"
        case .wrongTask(let session):
            "read verdict: session \(session): it judges another task; \(remedy)"
        case .repeated(let session):
            "read verdict: session \(session): it has a verdict already; \(remedy)"
        case .withdrawn(let session):
            "read verdict: session \(session): its candidate was gone; \(remedy)"
        }
    }
}

/// The verdict channel of one exam: at most one verdict a session that was begun and not withdrawn.
///
/// The first fault is final. Which session belongs to which task is what the supervisor noted when
/// it began the session; what the examiner writes must agree.
public struct VerdictCollector: Sendable {
    private enum Entry: Sendable {
        case open(TaskID)
        case judged(TaskID)
        case withdrawn(TaskID)
    }

    private let keepsDetail: Bool
    private var decoder: FrameDecoder
    private var entries: [SessionID: Entry] = [:]
    /// The first fault, after which every call throws it again.
    public private(set) var fault: VerdictFault?

    /// Begins an exam.
    ///
    /// - Parameters:
    ///   - split: the split; the detail of sealed verdicts is dropped where it is read.
    ///   - limits: what the channel may cost.
    public init(split: Split, limits: FrameLimits) {
        keepsDetail = split == .train
        decoder = FrameDecoder(limits: limits)
    }

    /// Notes that a session was begun; before `begin` is sent to the examiner.
    ///
    /// - Parameters:
    ///   - session: a session that was not begun before.
    ///   - task: its task.
    public mutating func begin(_ session: SessionID, task: TaskID) {
        precondition(entries[session] == nil, "invariant: session names are drawn once")
        entries[session] = .open(task)
    }

    /// Notes that a session's candidate was declared gone.
    ///
    /// - Parameter session: a session that was begun.
    /// - Throws: ``VerdictFault`` where the session has a verdict already: the examiner judged a
    ///   conversation that was not over.
    public mutating func withdraw(_ session: SessionID) throws(VerdictFault) {
        if let fault { throw fault }
        switch entries[session] {
        case .open(let task): entries[session] = .withdrawn(task)
        case .withdrawn: break
        case .judged: throw refused(.withdrawn(session))
        case nil: throw refused(.unknownSession(session))
        }
    }

    /// Takes bytes and returns the verdicts they complete.
    ///
    /// - Parameter bytes: the bytes, in pieces of any size.
    /// - Returns: the verdicts, in order.
    /// - Throws: ``VerdictFault``; the exam is then void, earlier verdicts included.
    public mutating func receive(_ bytes: [UInt8]) throws(VerdictFault) -> [VerdictFrame] {
        if let fault { throw fault }
        var verdicts: [VerdictFrame] = []
        do throws(FrameError) {
            try decoder.append(bytes)
            while let value = try decoder.next() { verdicts.append(try VerdictFrame(value)) }
        } catch {
            throw refused(.malformed(error))
        }
        for verdict in verdicts { try enter(verdict) }
        return keepsDetail ? verdicts : verdicts.map(\.sealed)
    }

    /// Says that the channel has ended.
    ///
    /// - Throws: ``VerdictFault`` where it ended inside a frame.
    public mutating func close() throws(VerdictFault) {
        if let fault { throw fault }
        do throws(FrameError) {
            try decoder.finish()
        } catch {
            throw refused(.malformed(error))
        }
    }

    /// The tasks whose sessions still await a verdict, sorted.
    public var open: [TaskID] {
        entries.values.compactMap { entry in
            if case .open(let task) = entry { task } else { nil }
        }.sorted()
    }

    private mutating func enter(_ verdict: VerdictFrame) throws(VerdictFault) {
        let session = verdict.session
        switch entries[session] {
        case .open(let task):
            guard task == verdict.task else { throw refused(.wrongTask(session)) }
            entries[session] = .judged(task)
        case .judged: throw refused(.repeated(session))
        case .withdrawn: throw refused(.withdrawn(session))
        case nil: throw refused(.unknownSession(session))
        }
    }

    private mutating func refused(_ fault: VerdictFault) -> VerdictFault {
        self.fault = fault
        return fault
    }
}

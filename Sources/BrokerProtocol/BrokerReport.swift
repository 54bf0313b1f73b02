public import ModelDialects

/// What the broker tells the supervisor.
public enum BrokerReport: Sendable, Equatable {
    /// It runs and waits for its configuration.
    case ready
    /// It can reach what it was told to, as far as names and files go.
    case configured
    /// A listener is served.
    case opened(listener: Int)
    /// A listener is served no more, and no descriptor of it is open.
    case closed(listener: Int, ListenerTotals)
    /// A request came to a listener that is held.
    case arrived(listener: Int)
    /// What a call has used so far, while its answer still streams; the last one of a call holds until it
    /// has ended.
    case spending(CallSpending)
    /// A call has ended, one way or the other.
    case call(CallRecord)
    /// Something on the way that somebody should know.
    case event(listener: Int, role: ModelRole?, ModelEvent)
    /// A request of the supervisor's cannot be carried out; the listener where it was about one.
    case failed(listener: Int?, BrokerFailure)
}

/// What a listener was used for in all.
public struct ListenerTotals: Sendable, Equatable {
    /// Requests that came.
    public var requests = 0
    /// Requests that were refused.
    public var refusals = 0
    /// Input tokens.
    public var inputTokens = 0
    /// Output tokens.
    public var outputTokens = 0
    /// Cost in millionths of a dollar.
    public var microdollars = 0
    /// Bytes of bodies that were not kept because the file for them is full.
    public var droppedBytes = 0

    /// Begins at nothing.
    public init() {}
}

/// What one call of a model has used while its answer still streams.
public struct CallSpending: Sendable, Equatable {
    /// Where it came from.
    public let listener: Int
    /// Its number, never used twice by one broker.
    public let number: Int
    /// Who asked.
    public let role: ModelRole
    /// Input tokens.
    public let inputTokens: Int
    /// Output tokens so far.
    public let outputTokens: Int
    /// Cost so far in millionths of a dollar.
    public let microdollars: Int

    /// Creates a value.
    public init(
        listener: Int,
        number: Int,
        role: ModelRole,
        inputTokens: Int,
        outputTokens: Int,
        microdollars: Int
    ) {
        self.listener = listener
        self.number = number
        self.role = role
        self.inputTokens = inputTokens
        self.outputTokens = outputTokens
        self.microdollars = microdollars
    }
}

/// One call of a model.
public struct CallRecord: Sendable, Equatable {
    /// Where it came from.
    public let listener: Int
    /// Its number, never used twice by one broker.
    public let number: Int
    /// Who asked.
    public let role: ModelRole
    /// The dialect.
    public let dialect: Dialect
    /// The model that was asked.
    public let model: String
    /// The status that the sandbox got.
    public let status: Int
    /// Input tokens.
    public let inputTokens: Int
    /// Output tokens.
    public let outputTokens: Int
    /// Whether the provider said so; otherwise the broker counted.
    public let isProvidersCount: Bool
    /// Cost in millionths of a dollar.
    public let microdollars: Int
    /// From the first byte of the request to the last of the answer, in milliseconds.
    public let milliseconds: Int
    /// Whether it was streamed.
    public let isStreamed: Bool
    /// Whether the answer ended before its time.
    public let isCut: Bool

    /// Creates a record.
    public init(
        listener: Int,
        number: Int,
        role: ModelRole,
        dialect: Dialect,
        model: String,
        status: Int,
        inputTokens: Int,
        outputTokens: Int,
        isProvidersCount: Bool,
        microdollars: Int,
        milliseconds: Int,
        isStreamed: Bool,
        isCut: Bool
    ) {
        self.listener = listener
        self.number = number
        self.role = role
        self.dialect = dialect
        self.model = model
        self.status = status
        self.inputTokens = inputTokens
        self.outputTokens = outputTokens
        self.isProvidersCount = isProvidersCount
        self.microdollars = microdollars
        self.milliseconds = milliseconds
        self.isStreamed = isStreamed
        self.isCut = isCut
    }
}

/// Why the broker cannot do what it was asked.
public struct BrokerFailure: Error, Sendable, Equatable, CustomStringConvertible {
    /// Doing what.
    public let operation: String
    /// At which upstream, listener or key.
    public let location: String
    /// Why not.
    public let reason: String
    /// What to do about it.
    public let remedy: String

    /// Creates a failure.
    public init(operation: String, location: String, reason: String, remedy: String) {
        self.operation = operation
        self.location = location
        self.reason = reason
        self.remedy = remedy
    }

    /// One line.
    public var description: String { "\(operation): \(location): \(reason); remedy: \(remedy)" }
}

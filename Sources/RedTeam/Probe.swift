// RedTeam: attacks as values, what each must meet with, and the judgement over what was seen. Pure:
// who performs them is the command `redteam`, with the program invigilator-probe.

public import SandboxPlan

/// How an attack was answered, on the control or in a sandbox.
public enum Answer: Sendable, Hashable {
    /// It did what it is for.
    case works
    /// A call of it failed with this error, or the record was refused for this reason.
    case refused(String)
    /// This signal ended its process.
    case killed(String)
    /// What it looks for is not there.
    case absent
    /// The whole sandbox, or the rollout, ended in this way.
    case ended(String)
    /// The kernel has no such feature.
    case lacking(String)
    /// Nothing came in time.
    case timedOut
    /// It could not be carried out.
    case broken(String)

    /// The answer in a word or two.
    public var text: String {
        switch self {
        case .works: "works"
        case .refused(let name): name
        case .killed(let signal): signal
        case .absent: "absent"
        case .ended(let kind): "ended: \(kind)"
        case .lacking(let name): "kernel lacks it (\(name))"
        case .timedOut: "no answer in time"
        case .broken(let reason): "broken: \(reason)"
        }
    }
}

/// What protects against an attack, and answers it first.
public struct Wall: Sendable, Equatable {
    /// The layer that a test-only build can leave out; absent where the wall has no such switch.
    public let layer: Layer?
    /// A layer behind it that gives the same answer, so that the attack stays refused without the first.
    public let backstop: Layer?
    /// A layer whose switch takes this wall's rule away as well.
    public let companion: Layer?
    /// The wall in words.
    public let name: String

    /// A layer that answers first, and perhaps one that stands before another with the same answer.
    public static func layer(
        _ layer: Layer,
        before backstop: Layer? = nil,
        with companion: Layer? = nil
    ) -> Wall {
        Wall(layer: layer, backstop: backstop, companion: companion, name: layer.rawValue)
    }

    /// A wall without a switch.
    public static func named(_ name: String) -> Wall {
        Wall(layer: nil, backstop: nil, companion: nil, name: name)
    }

    /// Whether an attack must be open in a build from which only this layer is left out.
    public func falls(without omitted: Layer) -> Bool {
        (layer == omitted && backstop == nil) || companion == omitted
    }
}

/// How much is lost where an attack works.
public enum Severity: String, Sendable, CaseIterable {
    /// The host, the sealed tasks or the verdict.
    case critical
    /// A way there, or a channel between two sandboxes.
    case high
    /// Something of the host, or of another sandbox's time.
    case medium
    /// A wall behind another wall.
    case low
}

/// Attacks of one kind.
public enum ProbeFamily: String, Sendable, CaseIterable {
    /// Files that must not be read, written, made or started.
    case files
    /// Mounts that must not be made or changed.
    case mounts
    /// Processes of the host, init, and one's own by forbidden ways.
    case processes
    /// Namespaces shared, made or entered.
    case namespaces
    /// Capabilities, securebits and what only they allow.
    case capabilities
    /// Each refused system call, by four ways into the kernel.
    case calls
    /// Socket families, addresses, options.
    case sockets
    /// Typing into terminals.
    case terminals
    /// What a process was started with.
    case descriptors
    /// Kernel keyrings.
    case keys
    /// System V and POSIX objects.
    case ipc
    /// What a host trusts its users with.
    case credentials
    /// Settings and counters of the kernel.
    case kernelFiles = "kernel-files"
    /// More than a sandbox may use.
    case exhaustion
    /// Outliving one's time.
    case timeouts
    /// Telling the next sandbox something.
    case pairs
    /// Scores by way of the conversation or of who grades it.
    case relay
    /// Changing the record.
    case ledger
    /// Reaching past the model, or past what of it is offered.
    case endpoint
}

/// What the control must show for an attack to count.
public enum ControlNeed: Sendable, Equatable {
    /// The attack works.
    case works
    /// The kernel itself answers the call, with whatever error but those of a refusal.
    case reached
    /// Nothing: the way in is compiled out of most kernels, and must be closed all the same.
    case nothing
}

/// One way of making an attack.
public struct ProbeVariant: Sendable, Equatable {
    /// Its name; empty where there is only one.
    public let name: String
    /// The answers that count as refused, in every role.
    public let expected: Set<Answer>
    /// What the control must show.
    public let control: ControlNeed

    /// Creates a variant.
    public init(_ name: String, _ expected: Set<Answer>, control: ControlNeed = .works) {
        self.name = name
        self.expected = expected
        self.control = control
    }
}

/// A program that is a launch of its own.
public enum Load: String, Sendable, CaseIterable {
    /// Takes more memory than the sandbox has.
    case eat
    /// Prints more than the sandbox may.
    case print
    /// Takes more numbers of counters that the whole host shares than the sandbox may.
    case takeObjects = "take-objects"
    /// Ignores every signal and stays.
    case swallowSignals = "swallow-signals"
    /// Stops itself and stays.
    case stopItself = "stop-itself"
    /// Leaves a process behind that ignores every signal.
    case leaveDaemon = "leave-daemon"
}

/// How an attack is started.
public enum LaunchStyle: Sendable, Equatable {
    /// With others, in a process of its own.
    case shared
    /// As a sandbox of its own.
    case alone(Load)
    /// Against many launches, one after the other.
    case race
    /// As two sandboxes, one after the other.
    case pair(PairChannel)
    /// As a candidate in one task of an exam.
    case exam
    /// On a copy of a record, outside every sandbox.
    case record
    /// With others, in a sandbox that has a model.
    case endpoint
    /// With others, by a program that asks the model's endpoint.
    case request
}

/// One attack.
public struct Probe: Sendable, Equatable {
    /// Stable; the family, a point and a name.
    public let id: String
    /// Its kind.
    public let family: ProbeFamily
    /// What it does, after ``actor``.
    public let title: String
    /// What would be lost.
    public let threat: String
    /// What answers it.
    public let wall: Wall
    /// How much is lost where it works.
    public let severity: Severity
    /// The sandboxes that it is made for; none where the record is attacked.
    public let roles: [SandboxRole]
    /// The ways of making it.
    public let variants: [ProbeVariant]
    /// Other answers that count as refused in a role, instead of the variants'.
    public let exceptions: [SandboxRole: Set<Answer>]
    /// How it is started.
    public let launch: LaunchStyle
    /// The word that the probe's program knows it by.
    public let word: String

    init(
        _ id: String,
        _ title: String,
        threat: String,
        _ wall: Wall,
        _ severity: Severity,
        _ roles: [SandboxRole],
        variants: [ProbeVariant],
        exceptions: [SandboxRole: Set<Answer>] = [:],
        launch: LaunchStyle = .shared,
        word: String? = nil
    ) {
        let name = id.prefix { $0 != "." }
        guard let family = ProbeFamily(rawValue: String(name)) else {
            fatalError("every id begins with a family: \(id)")
        }
        self.id = id
        self.family = family
        self.title = title
        self.threat = threat
        self.wall = wall
        self.severity = severity
        self.roles = roles
        self.variants = variants
        self.exceptions = exceptions
        self.launch = launch
        self.word = word ?? id
    }

    /// An attack that has one form.
    init(
        _ id: String,
        _ title: String,
        threat: String,
        _ wall: Wall,
        _ severity: Severity,
        _ roles: [SandboxRole],
        _ expected: Answer...,
        control: ControlNeed = .works,
        exceptions: [SandboxRole: Set<Answer>] = [:],
        launch: LaunchStyle = .shared
    ) {
        self.init(
            id,
            title,
            threat: threat,
            wall,
            severity,
            roles,
            variants: [ProbeVariant("", Set(expected), control: control)],
            exceptions: exceptions,
            launch: launch
        )
    }

    /// What the answers of a variant in a role must be among.
    public func expected(_ variant: ProbeVariant, in role: SandboxRole) -> Set<Answer> {
        exceptions[role] ?? variant.expected
    }

    /// What a channel is known to leave open, in bits a hand-over.
    public var declaredBits: Int? { channel?.declaredBits }

    /// The channel that it uses, where it is made in two sandboxes.
    public var channel: PairChannel? {
        if case .pair(let channel) = launch { channel } else { nil }
    }

    /// The sandboxes that it is made for, or the record, in words.
    public var places: String {
        roles.isEmpty ? "record" : roles.map(\.label).joined(separator: ",")
    }

    /// Who makes it.
    public var actor: String { roles.isEmpty ? "who has the file" : "the guest" }

    /// The words that make the program perform it, one for each variant.
    public var words: [String] { variants.map { word(for: $0) } }

    /// The word for one variant.
    public func word(for variant: ProbeVariant) -> String {
        variant.name.isEmpty ? word : "\(word)/\(variant.name)"
    }
}

extension [SandboxRole] {
    /// Every role that holds somebody else's program.
    public static var everywhere: [SandboxRole] { [.coding, .candidate, .examiner] }
    /// The roles of an exam.
    static var exam: [SandboxRole] { [.candidate, .examiner] }
    /// The coding agent's role.
    static var coding: [SandboxRole] { [.coding] }
}

extension SandboxRole {
    /// The role's name in this command's output.
    public var label: String {
        switch self {
        case .coding: "coding"
        case .candidate: "candidate"
        case .examiner: "examiner"
        case .broker: "broker"
        }
    }
}

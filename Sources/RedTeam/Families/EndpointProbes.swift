internal import SandboxPlan

/// Attacks of a program that has a model: on the network around its endpoint, and through the endpoint
/// on the model's provider.
///
/// Those of the network are made by invigilator-probe; their control is the one of all others. Those
/// through the endpoint are made by `templates/red-team/endpoint_attacks.py` against a real broker,
/// behind which a model tells what reached it; their control is a proxy of the usual kind, which has the
/// key in its environment and passes things on.
enum EndpointProbes {
    static let all: [Probe] = network + key + choice + provider + elsewhere + wire + budget

    // MARK: - around the endpoint

    private static let alone: Wall = .named("a network with nothing but loopback and its endpoint")
    private static let exam: [SandboxRole: Set<Answer>] = [
        .candidate: [.refused("EPERM")], .examiner: [.refused("EPERM")],
    ]

    private static func probe(
        _ name: String,
        _ title: String,
        threat: String,
        _ wall: Wall,
        _ severity: Severity,
        _ expected: Answer,
        variants: [String] = [""],
        roles: [SandboxRole] = .everywhere,
        exceptions: [SandboxRole: Set<Answer>] = [:]
    ) -> Probe {
        Probe(
            "endpoint.\(name)",
            title,
            threat: threat,
            wall,
            severity,
            roles,
            variants: variants.map { ProbeVariant($0, [expected]) },
            exceptions: exceptions,
            launch: .endpoint
        )
    }

    private static let network: [Probe] = [
        probe(
            "internet-socket",
            "makes an internet socket, whose ports and packets one table of the host counts",
            threat: "the coding agent reads by its own sockets what a sealed task said",
            .named("a filter that lists families"),
            .high,
            .refused("EPERM"),
            variants: ["stream", "datagram", "stream-6", "datagram-6"],
            roles: .exam
        ),
        probe(
            "host-loopback",
            "connects to a listener on the host's loopback",
            threat: "services of the host trust whoever is on loopback",
            alone,
            .high,
            .refused("ECONNREFUSED"),
            exceptions: exam
        ),
        probe(
            "host-loopback-6",
            "connects to a listener on the host's loopback by IPv6",
            threat: "the family that a list forgets",
            alone,
            .high,
            .refused("ECONNREFUSED"),
            exceptions: exam
        ),
        probe(
            "every-port",
            "connects to every port of loopback but its endpoint's",
            threat: "another sandbox's endpoint, or a service of the host",
            alone,
            .high,
            .absent,
            exceptions: exam
        ),
        probe(
            "metadata",
            "connects to the address of a cloud's metadata",
            threat: "keys of the machine",
            alone,
            .critical,
            .refused("ENETUNREACH"),
            exceptions: exam
        ),
        probe(
            "resolver",
            "asks a resolver",
            threat: "a name that is looked up carries bits to anybody",
            alone,
            .high,
            .refused("ENETUNREACH"),
            variants: ["datagram", "stream"],
            exceptions: exam
        ),
        probe(
            "abstract-name",
            "connects to an abstract socket of the host",
            threat: "no file protects it; a network namespace does",
            alone,
            .high,
            .refused("ECONNREFUSED")
        ),
        probe(
            "hypervisor",
            "makes a socket of the hypervisor's family",
            threat: "no network namespace divides it",
            .named("a filter that lists families"),
            .critical,
            .refused("EPERM")
        ),
        probe(
            "add-route",
            "adds a route",
            threat: "a way to addresses that have none",
            .named("no capability over its network namespace"),
            .medium,
            .refused("EPERM")
        ),
        probe(
            "take-port",
            "listens at the endpoint's port as well",
            threat: "who asks there next is answered by the guest",
            .named("a listener that shares its port with nobody"),
            .high,
            .refused("EADDRINUSE"),
            exceptions: exam
        ),
        probe(
            "take-socket",
            "puts a socket of its own in the place of the endpoint's",
            threat: "who asks there next is answered by the guest",
            .named("a read-only /dev"),
            .high,
            .refused("EROFS"),
            roles: .exam
        ),
        probe(
            "held-socket",
            "looks for the endpoint's listener and the broker's socket among its descriptors",
            threat: "whoever holds it takes others' questions, or tells the broker what to do",
            .named("opened by the launcher, handed to the broker alone"),
            .critical,
            .absent,
            variants: ["listener", "control"]
        ),
        probe(
            "find-broker",
            "looks for the broker's process",
            threat: "who holds the key is seen, and then read or ended",
            .named("a process namespace of its own"),
            .critical,
            .absent
        ),
    ]

    private static let key: [Probe] = [
        probe(
            "find-key",
            "looks for the key in the environment of every process, in files and in its memory",
            threat: "a key that is known is used from anywhere",
            .named("the broker alone has the key"),
            .critical,
            .absent,
            variants: ["environment", "files", "memory"]
        )
    ]

    // MARK: - through the endpoint

    private static let pins: Wall = .named("the broker's pins")
    private static let list: Wall = .named("requests rebuilt from an allow-list")
    private static let routes: Wall = .named("exact methods and paths")
    private static let reader: Wall = .named("the broker's strict reader")
    private static let unread: Answer = .refused("status 400")
    private static let dropped: Answer = .absent

    private static func request(
        _ name: String,
        _ title: String,
        threat: String,
        _ wall: Wall,
        _ severity: Severity,
        _ expected: Answer,
        variants: [String] = [""],
        roles: [SandboxRole] = .everywhere
    ) -> Probe {
        Probe(
            "endpoint.\(name)",
            title,
            threat: threat,
            wall,
            severity,
            roles,
            variants: variants.map { ProbeVariant($0, [expected]) },
            launch: .request
        )
    }

    private static let choice: [Probe] =
        [
            ("other-model", "asks for another model", "an exam of another model than is said"),
            ("more-effort", "asks for more effort", "an exam of another setting than is said"),
            (
                "temperature", "asks for another temperature",
                "an exam of another setting than is said"
            ),
            ("many-answers", "asks for eight answers", "the best of many counts as one"),
            ("long-answer", "asks for an answer of a million tokens", "the operator's money"),
            ("faster-service", "asks for the dearer service", "the operator's money"),
        ].map { name, title, threat in
            request(name, title, threat: threat, pins, .high, dropped)
        } + [
            request(
                "judges-model",
                "asks for the model of another sandbox",
                threat: "a candidate that asks whoever judges it",
                .named("one listener for each sandbox"),
                .high,
                dropped,
                roles: [.coding, .candidate]
            )
        ]

    private static let provider: [Probe] = [
        request(
            "provider-tool",
            "offers the model tools that its provider runs",
            threat: "the provider searches, runs and connects for whoever has no network",
            list,
            .critical,
            dropped,
            variants: ["web-search", "interpreter", "connector", "file-search"]
        ),
        request(
            "fetched-content",
            "has the provider fetch an address",
            threat: "what stands in the address reaches whoever is there",
            list,
            .critical,
            unread
        ),
        request(
            "kept-file",
            "shows the model a file that the provider keeps",
            threat: "a place that two sandboxes share",
            list,
            .high,
            unread
        ),
        request(
            "kept-state",
            "goes on with what the provider keeps",
            threat: "a place that two sandboxes share",
            list,
            .high,
            unread,
            variants: ["answer", "conversation", "prompt", "background"]
        ),
        request(
            "keep-answer",
            "has the provider keep the answer",
            threat: "a place that two sandboxes share",
            list,
            .high,
            dropped
        ),
        request(
            "other-place",
            "asks for other things than answers",
            threat: "files, batches and answers that the provider keeps",
            routes,
            .critical,
            .refused("status 404"),
            variants: [
                "files", "batches", "vector-stores", "fine-tuning", "answers", "dots", "query",
            ]
        ),
        request(
            "label",
            "labels a question for the provider",
            threat: "words that the provider keeps, and tells its customer",
            list,
            .medium,
            dropped,
            variants: ["user", "metadata", "cache"],
            roles: .exam
        ),
        request(
            "unknown-member",
            "sends a member that nobody knows yet",
            threat: "what a provider offers next",
            list,
            .medium,
            dropped
        ),
    ]

    // MARK: - another server, and two readers

    private static let elsewhere: [Probe] = [
        request(
            "own-key",
            "brings a key of its own",
            threat: "an account of the attacker's takes what it is told",
            .named("headers made anew"),
            .critical,
            dropped
        ),
        request(
            "other-project",
            "names a project of its own",
            threat: "what is asked shows in another project",
            .named("headers made anew"),
            .high,
            dropped
        ),
        request(
            "absolute-form",
            "asks for an address of another server",
            threat: "a proxy goes anywhere",
            reader,
            .critical,
            unread
        ),
        request(
            "tunnel",
            "asks for a tunnel to another server",
            threat: "a proxy goes anywhere",
            reader,
            .critical,
            unread
        ),
        request(
            "host-field",
            "names another server as its host",
            threat: "a proxy goes where the host leads",
            reader,
            .critical,
            .refused("status 421")
        ),
        request(
            "redirect",
            "is sent on by the provider to another server",
            threat: "the key goes along",
            .named("redirects are not followed"),
            .high,
            .refused("status 502")
        ),
    ]

    private static let wire: [Probe] = [
        request(
            "two-lengths",
            "hides a question behind two lengths",
            threat: "what nobody looked at reaches the provider",
            reader,
            .critical,
            unread
        ),
        request(
            "length-and-chunks",
            "hides a question behind a length and chunks",
            threat: "what nobody looked at reaches the provider",
            reader,
            .critical,
            unread
        ),
        request(
            "repeated-member",
            "names two models under one key",
            threat: "who checks reads one and who answers the other",
            .named("strict JSON"),
            .high,
            unread
        ),
        request(
            "rate-state",
            "reads what the provider counts",
            threat: "counters that two sandboxes share",
            .named("headers made anew"),
            .medium,
            dropped
        ),
        request(
            "answer-numbers",
            "reads the number of an answer",
            threat: "a counter that two sandboxes share",
            .named("answers rebuilt in an exam"),
            .medium,
            dropped,
            roles: .exam
        ),
        request(
            "quoted-key",
            "has the provider quote the key in an error",
            threat: "a key that is known is used from anywhere",
            .named("errors in the broker's words"),
            .critical,
            unread
        ),
    ]

    // Last, because nobody is served after it.
    private static let budget: [Probe] = [
        request(
            "beyond-budget",
            "asks until somebody stops it",
            threat: "the operator's money",
            .named("the broker's accounts"),
            .high,
            .refused("status 401")
        )
    ]
}

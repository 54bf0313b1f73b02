import BrokerProtocol
import ModelDialects
import Testing

@Suite("messages between supervisor and broker")
struct CodingTests {
    private static let pin = ModelPin(
        alias: "judge",
        upstream: "provider",
        dialects: [.openAIChat, .anthropicMessages],
        model: "model-1",
        effort: "high",
        temperature: 0.5,
        maxOutputTokens: 4096,
        maximumChoices: 2,
        toolRule: .refuse
    )

    private static let bare = ModelPin(
        upstream: "provider",
        dialects: [],
        model: "model-2",
        maxOutputTokens: 1
    )

    private static let requests: [BrokerRequest] = [
        .configure(
            BrokerConfiguration(
                upstreams: [
                    UpstreamTerms(
                        name: "provider",
                        url: "https://models.example",
                        dialects: [.openAIResponses],
                        key: SecretText("secret"),
                        trust: "-----BEGIN",
                        allowsAnyAddress: true,
                        allowsPlainHTTP: false
                    )
                ],
                prices: [
                    PriceTerms(model: "model-1", input: 3, output: 15, cachedInput: nil),
                    PriceTerms(model: "model-2", input: 3, output: 15, cachedInput: 1),
                ],
                cassette: .replay
            )
        ),
        .configure(BrokerConfiguration(upstreams: [], prices: [], cassette: nil)),
        .account(AccountTerms(name: "campaign", requests: 7, tokens: 100, microdollars: nil)),
        .open(
            ListenerTerms(
                listener: 7,
                roles: [
                    PinnedRole(role: .userSimulator, pin: bare, accounts: []),
                    PinnedRole(role: .judge, pin: pin, accounts: ["campaign", "role:judge"]),
                ],
                isSealed: true,
                unknownFields: .refuse,
                maximumRequests: 3,
                maximumConcurrency: 2
            )
        ),
        .hold(listener: 1), .release(listener: 2), .close(listener: 3),
    ]

    private static let reports: [BrokerReport] = [
        .ready, .configured, .opened(listener: 1), .arrived(listener: 4),
        .closed(listener: 2, totals),
        .call(
            CallRecord(
                listener: 1,
                number: 3,
                role: .codingAgent,
                dialect: .anthropicMessages,
                model: "model-1",
                status: 200,
                inputTokens: 10,
                outputTokens: 20,
                isProvidersCount: true,
                microdollars: 30,
                milliseconds: 40,
                isStreamed: true,
                isCut: false
            )
        ),
        .spending(
            CallSpending(
                listener: 1,
                number: 4,
                role: .judge,
                inputTokens: 5,
                outputTokens: 6,
                microdollars: 7
            )
        ),
        .event(listener: 1, role: .candidate, ModelEvent(.modelChanged, "model-9")),
        .event(listener: 1, role: nil, ModelEvent(.badRequest, "")),
        .failed(listener: nil, failure), .failed(listener: 5, failure),
    ]

    private static let failure = BrokerFailure(
        operation: "reach a provider",
        location: "provider",
        reason: "no address",
        remedy: "check the name"
    )

    private static var totals: ListenerTotals {
        var totals = ListenerTotals()
        totals.requests = 5
        totals.refusals = 1
        totals.inputTokens = 2
        totals.outputTokens = 3
        totals.microdollars = 4
        totals.droppedBytes = 6
        return totals
    }

    @Test("every request arrives as it was sent", arguments: requests)
    func request(_ request: BrokerRequest) throws {
        #expect(try BrokerRequest(bytes: request.bytes) == request)
    }

    @Test("every report arrives as it was sent", arguments: reports)
    func report(_ report: BrokerReport) throws {
        #expect(try BrokerReport(bytes: report.bytes) == report)
    }

    @Test(
        "what no message is, or says something unknown, is refused",
        arguments: [
            "", "[]", "{}", #"{"type":"obey"}"#, #"{"type":"hold"}"#,
            #"{"type":"hold","listener":"1"}"#, #"{"type":"hold","listener":1,"more":1}"#,
            #"{"type":"hold","listener":1,"listener":2}"#,
            #"{"type":"account","name":"a","requests":null,"tokens":-1,"microdollars":null}"#,
            #"{"type":"account","name":"a","tokens":1}"#,
            #"{"type":"configure","upstreams":[],"prices":[],"cassette":"play"}"#,
        ]
    )
    func malformed(text: String) {
        #expect(throws: (any Error).self) { try BrokerRequest(bytes: Array(text.utf8)) }
        #expect(throws: (any Error).self) { try BrokerReport(bytes: Array(text.utf8)) }
    }

    @Test("a key is in no description of what holds it")
    func secrecy() {
        let request = Self.requests[0]
        var dumped = ""
        dump(request, to: &dumped)
        for text in ["\(request)", String(reflecting: request), dumped] {
            #expect(!text.contains("secret"))
        }
    }
}

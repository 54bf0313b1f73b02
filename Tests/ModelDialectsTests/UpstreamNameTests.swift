import ModelDialects
import TestSupport
import Testing

@Suite("An upstream's name")
struct UpstreamNameTests {
    @Test(
        "has one spelling, which reads back as itself",
        arguments: [
            "https://api.openai.com/v1", "https://api.anthropic.com", "http://127.0.0.1:9000",
            "https://x.example:8443/a/b-c/v1.2_3", "http://localhost", "https://1e100.net",
            "https://xn--bcher-kva.example", "https://a-b.c1", "http://8.8.8.8",
        ]
    )
    func known(text: String) throws {
        #expect(try UpstreamName(parsing: text).text == text)
    }

    static let hostile: [(String, UpstreamNameError.Fault)] = [
        ("", .scheme), ("x.example", .scheme), ("//x.example", .scheme), ("HTTPS://x", .scheme),
        ("ftp://x.example", .scheme), ("https:/x.example", .scheme), ("https:x", .scheme),
        ("file:///etc/passwd", .scheme), ("https:\\\\x.example", .scheme),
        (" https://x.example", .foreignByte), ("https://x.example\n", .foreignByte),
        ("https://x.example\0.evil", .foreignByte), ("https://x\t.example", .foreignByte),
        ("https://b\u{FC}cher.example", .foreignByte), ("https://\u{FF58}.example", .foreignByte),
        ("https://x.example\u{200B}", .foreignByte), ("https://x\u{3002}example", .foreignByte),
        ("https://", .host), ("https:///v1", .host), ("https://X.example", .host),
        ("https://x.example.", .host), ("https://.x.example", .host), ("https://x..y", .host),
        ("https://user@x.example", .host), ("https://user:pw@x.example", .port),
        ("https://x.example?y", .host), ("https://x.example#y", .host),
        ("https://x_y.example", .host), ("https://-x.example", .host), ("https://x-.y", .host),
        ("https://xn--.example", .host), ("https://ab--cd.example", .host),
        ("https://x%2eexample", .host), ("https://%31.0.0.1", .host), ("https://*", .host),
        ("https://[::1]", .host), ("https://[fe80::1%25eth0]", .host), ("https://x,y", .host),
        ("https://" + String(repeating: "a", count: 64), .host),
        ("https://" + String(repeating: "abc.", count: 64) + "x", .host),
        ("https://0x7f.1", .address), ("https://2130706433", .address), ("https://127.1", .address),
        ("https://0x7f000001", .address), ("https://0177.0.0.1", .address),
        ("https://127.0.0.01", .address), ("https://256.0.0.1", .address),
        ("https://1.2.3.4.5", .address), ("https://127.0.0.0x1", .address),
        ("https://x.example.1", .address), ("https://0", .address), ("https://1.2.3", .address),
        ("https://x.example:", .port), ("https://x.example:0", .port), ("https://x:080", .port),
        ("https://x.example:65536", .port), ("https://x.example:8443:1", .port),
        ("https://x.example:+80", .port), ("https://x.example:443", .port),
        ("https://x.example:80@y", .port), ("http://x.example:80", .port),
        ("https://x.example/", .path), ("https://x.example/v1/", .path),
        ("https://x.example//v1", .path), ("https://x.example/../v1", .path),
        ("https://x.example/./v1", .path), ("https://x.example/v1?key=1", .path),
        ("https://x.example/v1#f", .path), ("https://x.example/%76", .path),
        ("https://x.example/v1;x", .path), ("https://x.example/a\\b", .path),
        ("https://x.example/a@b", .path), ("https://x.example/a:b", .path),
        ("https://x.example/" + String(repeating: "a", count: 200), .path),
        ("https://x.example/" + String(repeating: "a/", count: 400), .tooLong),
    ]

    @Test("has no other", arguments: hostile)
    func refused(text: String, fault: UpstreamNameError.Fault) {
        let found = #expect(throws: UpstreamNameError.self) { try UpstreamName(parsing: text) }
        #expect(found?.fault == fault)
    }

    @Test("of random bytes is refused, or reads back as itself")
    func random() {
        var generator = SeededGenerator(seed: 11)
        let pieces = [
            "https://", "http://", "a", "x.example", ".", ":", "8443", "/", "v1", "127.0.0.1", "@",
            "%", "-", "xn--", "0x", "[", "\u{E9}", " ", "?", "1",
        ]
        for _ in 0..<20_000 {
            let text = (0...generator.below(6)).map { _ in generator.pick(pieces) }.joined()
            do throws(UpstreamNameError) {
                #expect(try UpstreamName(parsing: text).text == text)
            } catch {
                #expect(!error.description.isEmpty)
            }
        }
    }

    @Test(
        "leads to the place of the provider's own programs",
        arguments: [
            ("https://api.openai.com/v1", Route.generate(.openAIChat), "/v1/chat/completions"),
            ("https://api.openai.com", .generate(.openAIResponses), "/v1/responses"),
            ("https://x.example/openai/v1", .generate(.openAIChat), "/openai/v1/chat/completions"),
            ("https://api.anthropic.com", .generate(.anthropicMessages), "/v1/messages"),
            ("https://x.example/v1", .generate(.anthropicMessages), "/v1/messages"),
            (
                "https://x.example/a", .countTokens(.anthropicMessages),
                "/a/v1/messages/count_tokens"
            ),
            (
                "https://x.example", .geminiGenerate(model: "other", isStreaming: true),
                "/v1beta/models/small-1:streamGenerateContent?alt=sse"
            ),
        ]
    )
    func path(base: String, route: Route, path: String) throws {
        #expect(try UpstreamName(parsing: base).path(of: route, model: "small-1") == path)
    }

    @Test(
        "leads nowhere for a model whose name is no segment",
        arguments: ["", "../x", "a/b", "a?b"]
    )
    func noSegment(model: String) throws {
        let name = try UpstreamName(parsing: "https://x.example")
        #expect(name.path(of: .geminiGenerate(model: "g", isStreaming: false), model: model) == nil)
    }
}

@Suite("A public address")
struct PublicAddressTests {
    @Test(
        "is one of the internet",
        arguments: [
            [8, 8, 8, 8], [1, 1, 1, 1], [172, 15, 255, 255], [172, 32, 0, 0], [100, 63, 255, 255],
            [100, 128, 0, 0], [169, 253, 0, 1], [198, 17, 0, 1], [198, 20, 0, 1],
            [223, 255, 255, 255], [0x26, 0x06, 0x47, 0] + [UInt8](repeating: 1, count: 12),
            [0x2A, 0x00] + [UInt8](repeating: 1, count: 14),
        ] as [[UInt8]]
    )
    func isPublic(address: [UInt8]) {
        #expect(UpstreamName.isPublic(address))
    }

    @Test(
        "is none of a host or its networks, and none that hides another",
        arguments: [
            [0, 0, 0, 0], [0, 1, 2, 3], [10, 0, 0, 1], [100, 64, 0, 1], [100, 127, 255, 255],
            [127, 0, 0, 1], [127, 255, 0, 1], [169, 254, 169, 254], [172, 16, 0, 1],
            [172, 31, 255, 255], [192, 0, 0, 170], [192, 0, 2, 1], [192, 88, 99, 1],
            [192, 168, 0, 1], [198, 18, 0, 1], [198, 19, 255, 255], [198, 51, 100, 1],
            [203, 0, 113, 1], [224, 0, 0, 1], [239, 1, 1, 1], [240, 0, 0, 1],
            [255, 255, 255, 255], [], [8], [8, 8, 8], [8, 8, 8, 8, 8],
            [UInt8](repeating: 0, count: 16), [UInt8](repeating: 0, count: 15) + [1],
            // v4-mapped, v4-compatible, NAT64, 6to4, Teredo: each with 8.8.8.8 or 127.0.0.1 inside.
            [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF, 127, 0, 0, 1],
            [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF, 8, 8, 8, 8],
            [UInt8](repeating: 0, count: 12) + [8, 8, 8, 8],
            [0x00, 0x64, 0xFF, 0x9B] + [UInt8](repeating: 0, count: 8) + [127, 0, 0, 1],
            [0x20, 0x02, 127, 0, 0, 1] + [UInt8](repeating: 0, count: 10),
            [0x20, 0x01, 0, 0] + [UInt8](repeating: 0, count: 12),
            [0x20, 0x01, 0x0D, 0xB8] + [UInt8](repeating: 0, count: 12),
            [0x3F, 0xFF] + [UInt8](repeating: 0, count: 14),
            [0xFC, 0x00] + [UInt8](repeating: 0, count: 14),
            [0xFD, 0x12] + [UInt8](repeating: 0, count: 14),
            [0xFE, 0x80] + [UInt8](repeating: 0, count: 14),
            [0xFE, 0xC0] + [UInt8](repeating: 0, count: 14),
            [0xFF, 0x02] + [UInt8](repeating: 0, count: 14),
            [0x40, 0x00] + [UInt8](repeating: 1, count: 14),
        ] as [[UInt8]]
    )
    func isNotPublic(address: [UInt8]) {
        #expect(!UpstreamName.isPublic(address))
    }
}

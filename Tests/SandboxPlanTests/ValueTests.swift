import SandboxPlan
import Testing

@Suite("SHA256Digest")
struct SHA256DigestTests {
    // FIPS 180-4's own examples, and the lengths around one and two blocks.
    static let vectors: [(String, Int, String)] = [
        ("", 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
        ("a", 55, "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318"),
        ("a", 56, "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a"),
        ("a", 57, "f13b2d724659eb3bf47f2dd6af1accc87b81f09f59f2b75e5c0bed6589dfe8c6"),
        ("a", 63, "7d3e74a05d7db15bce4ad9ec0658ea98e3f06eeecf16b4c6fff2da457ddc2f34"),
        ("a", 64, "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb"),
        ("a", 65, "635361c48bb9eab14198e76ea8ab7f1a41685d6ad62aa9146d301d4f17eb0ae0"),
        ("a", 119, "31eba51c313a5c08226adf18d4a359cfdfd8d2e816b13f4af952f7ea6584dcfb"),
        ("a", 120, "2f3d335432c70b580af0e8e1b3674a7c020d683aa5f73aaaedfdc55af904c21c"),
        ("a", 128, "6836cf13bac400e9105071cd6af47084dfacad4e5e302c94bfed24e013afb73e"),
        ("a", 1_000_000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"),
    ]

    @Test("it gives the published digests")
    func published() {
        for (text, count, digest) in Self.vectors {
            let message = Array(String(repeating: text, count: count).utf8)
            #expect(SHA256Digest(of: message).description == digest, "\(text) \(count)")
        }
    }
}

@Suite("InsidePath")
struct InsidePathTests {
    @Test(
        "absolute and normalised paths are accepted",
        arguments: ["/", "/a", "/a/b.c/..d", "/ä b"]
    )
    func accepted(_ text: String) throws { #expect(try InsidePath(text).text == text) }

    // One test for all, because a report of tests cannot hold every character that is tried.
    @Test("everything else is refused")
    func refused() {
        let texts = [
            "", "a", "a/b", "//", "/a/", "/a//b", "/.", "/..", "/a/./b", "/a/../b", "/a\n",
            "/\u{0}",
            "/a\u{7f}", "/" + String(repeating: "a", count: 1024),
        ]
        for text in texts {
            let error = #expect(throws: PlanError.self, "\(text.debugDescription)") {
                try InsidePath(text)
            }
            #expect(error?.remedy.isEmpty == false)
        }
    }

    @Test("a path lies within itself and what is above it, by components and not by letters")
    func within() throws {
        let path = try InsidePath("/work/agent")
        for name in ["/", "/work", "/work/agent"] {
            #expect(path.isWithin(try InsidePath(name)), "\(name)")
        }
        for name in ["/work/agent/deeper", "/wor", "/work/age", "/other"] {
            #expect(!path.isWithin(try InsidePath(name)), "\(name)")
        }
        #expect(path.components == ["work", "agent"])
        #expect(try InsidePath("/").components.isEmpty)
    }
}

@Suite("AssuranceLevel")
struct AssuranceLevelTests {
    @Test("levels are ordered by what they enforce and found by their names")
    func order() {
        let names = ["no-userns", "single-uid", "delegated", "full"]
        #expect(AssuranceLevel.allCases.sorted().map(\.name) == names)
        #expect(Set(AssuranceLevel.allCases.map(\.name)).count == AssuranceLevel.allCases.count)
    }
}

import Testing
import Workspace

@Suite("Python texts in pieces")
struct PythonTokensTests {
    private func texts(_ text: String, _ kind: PythonToken.Kind) -> [String] {
        PythonTokens(of: text).tokens.filter { $0.kind == kind }.map(\.text)
    }

    private func names(_ text: String) -> [String] { texts(text, .name) }

    @Test("names, numbers and marks are told apart, with their lines")
    func pieces() {
        let tokens = PythonTokens(of: "a1 = 0x1F + 2.5e-3\nb(.5)\n").tokens
        #expect(
            tokens.map(\.text)
                == ["a1", "=", "0x1F", "+", "2.5e-3", "", "b", "(", ".5", ")", ""]
        )
        #expect(tokens.map(\.line) == [1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2])
        #expect(texts("1-2", .number) == ["1", "2"])
        #expect(texts("0xe-1", .number) == ["0xe", "1"])
    }

    @Test("what stands in a comment or in a string is no name")
    func hidden() {
        #expect(names("a # eval\nb = 'eval' \"exec\"") == ["a", "b"])
        #expect(texts("# one\nx", .comment) == ["# one"])
        #expect(names("x = '''\neval\n'''\ny") == ["x", "y"])
    }

    @Test("escapes are resolved, but not in raw strings")
    func escapes() {
        #expect(texts(#"'\x65v\141l'"#, .string) == ["eval"])
        #expect(texts(#"'\u0065val\n'"#, .string) == ["eval\n"])
        #expect(texts(#"r'\x65'"#, .string) == [#"\x65"#])
        #expect(texts(#"rb'\''"#, .string) == [#"\'"#])
        #expect(texts("'a\\\nb'", .string) == ["ab"])
    }

    @Test("code inside a formatted string is code, its text is not")
    func formatted() {
        #expect(names(#"f"eval {exec(x)!r:>{width}} {{no}}""#) == ["exec", "x", "r", "width"])
        #expect(names(#"f"{a["b"]:#x}" + c"#) == ["a", "c"])
        #expect(names(#"f'{f"{deep}"}'"#) == ["deep"])
        #expect(texts(#"f"a{b}c""#, .string) == ["ac"])
        #expect(names(#"f'\{eval(x)}' + fr'\{exec(y)}'"#) == ["eval", "x", "exec", "y"])
    }

    @Test("strings that the language joins are one, over lines and with a plus between")
    func joined() {
        let tokens = PythonTokens(of: "x = ('f_'  # one\n  'back')\ny = 'a' + \"b\"\nz = 'c', 'd'")
        #expect(tokens.literals.map(\.value) == ["f_back", "ab", "c", "d"])
        #expect(tokens.literals.map(\.line) == [1, 3, 4, 4])
    }

    @Test(
        "a text that ends in a string, a bracket or a brace is unreadable, and its beginning stands",
        arguments: ["x = 'a", "x = (1", "x = '''a\n", "x = f'{a", "x = a)", "x \\ y", "x = \0"]
    )
    func unreadable(_ text: String) {
        let tokens = PythonTokens(of: text)
        #expect(tokens.unreadableLine != nil)
        #expect(tokens.tokens.first?.text == "x")
    }

    @Test("formatted strings in formatted strings end somewhere")
    func nesting() {
        let deep = String(repeating: "f'{f\"{", count: 2_000)
        #expect(PythonTokens(of: deep).unreadableLine == 1)
        // Formats and their replacements call each other: this would need a stack of hundreds of MiB.
        let formats = "f\"" + String(repeating: "{:", count: 500_000)
        #expect(PythonTokens(of: formats).unreadableLine == 1)
    }
}

import StrictYAML
import Testing

@Suite("Scalars and lists of a document")
struct ScalarTests {
    private enum Colour: String, CaseIterable { case red, none = "null", off }

    private func value<Value>(_ text: String, _ take: (YAMLNode) -> Value?) -> Value? {
        let found = read("key: \(text)\n") { $0.entries()?.first.flatMap { take($0.value) } }
        #expect(found.problems.isEmpty == (found.value != nil), "\(text): \(found.problems)")
        #expect(found.problems.allSatisfy { $0.key.hasPrefix("key") && !$0.remedy.isEmpty })
        return found.value
    }

    @Test("a text is what YAML reads as a text", arguments: ["plain", "\"5\"", "'true'", "a: b"])
    func texts(text: String) {
        let quoted = text == "a: b" ? "\"a: b\"" : text
        #expect(value(quoted) { $0.text() } != nil)
    }

    @Test(
        "what YAML reads as something else is no text",
        arguments: [
            "5", "-1.5", "0x10", "1e3", "true", "No", "off", "~", "null", "", "[a]", "{a: b}",
            "\"\"", "\"a\\nb\"", "\"a\\eb\"", "\"\\x85\"", ".5",
            String(repeating: "x", count: 4097),
        ]
    )
    func noTexts(text: String) {
        #expect(value(text) { $0.text() } == nil)
    }

    @Test("a longer text may have lines and tabs, and be empty where that is said")
    func longTexts() {
        #expect(value("\"a\\n\\tb\"") { $0.text(atLeast: 1, limit: 4) } == "a\n\tb")
        #expect(value("\"a\\n\\tbc\"") { $0.text(atLeast: 1, limit: 4) } == nil)
        #expect(value("\"a\\rb\"") { $0.text(atLeast: 1, limit: 9) } == nil)
        #expect(value("\"\"") { $0.text(atLeast: 0, limit: 4) } == "")
        #expect(value("\"\"") { $0.text(atLeast: 1, limit: 4) } == nil)
        #expect(value("") { $0.text(atLeast: 0, limit: 4) } == nil)
        #expect(value("5") { $0.text(atLeast: 0, limit: 4) } == nil)
    }

    @Test(
        "whole numbers are digits, or hexadecimal ones after 0x",
        arguments: [
            ("0", 0), ("42", 42), ("0xff", 255), ("0xFF", 255), ("4294967295", 4_294_967_295),
        ]
    )
    func integers(text: String, number: UInt32) {
        #expect(value(text) { $0.integer(in: 0...UInt32.max) } == number)
    }

    @Test(
        "every other spelling of a number is refused",
        arguments: [
            "-1", "+1", "1.0", "1_000", "1e3", "0o17", "0x", "0x-1", "0x+1", "\"1\"", "one", "~",
            "", "[1]", "4294967296", "99999999999999999999999", "٣",
        ]
    )
    func noIntegers(text: String) {
        #expect(value(text) { $0.integer(in: 0...UInt32.max) } == nil)
    }

    @Test("numbers outside of their range are refused, ends included")
    func ranges() {
        #expect(value("1") { $0.integer(in: 1...3) } == 1)
        #expect(value("3") { $0.integer(in: 1...3) } == 3)
        #expect(value("0") { $0.integer(in: 1...3) } == nil)
        #expect(value("4") { $0.integer(in: 1...3) } == nil)
        #expect(value("0.5") { $0.number(in: 0.5...1) } == 0.5)
        #expect(value("1") { $0.number(in: 0.5...1) } == 1)
        for text in ["0.4", "1.1", ".nan", ".inf", "nan", "inf", "\"0.5\"", "half", "true"] {
            #expect(value(text) { $0.number(in: 0.5...1) } == nil)
        }
    }

    @Test("a truth value is spelled in one way")
    func booleans() {
        #expect(value("true") { $0.boolean() } == true)
        #expect(value("false") { $0.boolean() } == false)
        for text in ["True", "yes", "1", "\"true\"", "", "[true]"] {
            #expect(value(text) { $0.boolean() } == nil)
        }
    }

    @Test("a word is known by its spelling, with or without quotes")
    func words() {
        #expect(value("red") { $0.word(of: Colour.self) } == .red)
        #expect(value("\"red\"") { $0.word(of: Colour.self) } == .red)
        #expect(value("null") { $0.word(of: Colour.self) } == Colour.none)
        #expect(value("off") { $0.word(of: Colour.self) } == .off)
        for text in ["Red", "", "~", "[red]", "rot"] {
            #expect(value(text) { $0.word(of: Colour.self) } == nil)
        }
        let problem = read("a: rot") { $0.entries()?.first?.value.word(of: Colour.self) }.problems
        #expect(problem.map(\.reason) == ["«rot» is unknown"])
        #expect(problem.map(\.remedy) == ["write one of: null, off, red"])
    }

    @Test(
        "a quantity is a whole number with a unit",
        arguments: [
            ("1ms", 1), ("90s", 90_000), ("2m", 120_000), ("\"3h\"", 10_800_000),
            ("9007199254740991ms", 9_007_199_254_740_991),
        ]
    )
    func times(text: String, milliseconds: UInt64) {
        #expect(value(text) { $0.milliseconds() } == milliseconds)
    }

    @Test("sizes have units of 1,024")
    func sizes() {
        #expect(value("7B") { $0.bytes() } == 7)
        #expect(value("2KiB") { $0.bytes() } == 2048)
        #expect(value("3MiB") { $0.bytes() } == 3 << 20)
        #expect(value("4GiB") { $0.bytes() } == 4 << 30)
    }

    @Test(
        "a quantity without unit, below 1, above its range or spelled otherwise is refused",
        arguments: [
            "64", "0MiB", "-1MiB", "+1MiB", "64mib", "1.5GiB", "99999999999GiB", "MiB", "64 MiB",
            "\"\"", "9007199254740992B", "18446744073709551616B", "٣B", "[1B]", "1s",
        ]
    )
    func noSizes(text: String) {
        #expect(value(text) { $0.bytes() } == nil)
    }

    @Test("the remedy of a quantity names its bounds in the largest unit")
    func bounds() {
        let found = read("a: 2h") {
            $0.entries()?.first?.value.milliseconds(in: 1500...3_600_000)
        }
        #expect(found.problems.map(\.reason) == ["«2h» is out of range"])
        #expect(found.problems.map(\.remedy) == ["write from 1500ms to 1h"])
    }

    @Test("items of a list are read one by one, and none twice")
    func lists() {
        let found = read("[a, b, 5, a, c]") { $0.distinct { $0.text() } }
        #expect(found.value?.map(\.value) == ["a", "b", "c"])
        #expect(found.value?.map(\.place.key) == ["[0]", "[1]", "[4]"])
        #expect(found.problems.map(\.key) == ["[2]", "[3]"])
        #expect(found.problems.last?.reason == "it is listed twice")
        #expect(value("[a, b]") { $0.items(atMost: 2)?.count } == 2)
        #expect(value("[a, b, c]") { $0.items(atMost: 2)?.count } == nil)
        #expect(value("a") { $0.items()?.count } == nil)
        #expect(value("{a: b}") { $0.items()?.count } == nil)
    }

    @Test("an error never repeats what stands where something else was expected")
    func secrets() {
        let found = read("key: sk-very-secret") { top -> Int? in
            let node = top.entries()?.first?.value
            _ = node?.mapping()
            _ = node?.items()
            _ = node?.integer(in: 0...9)
            _ = node?.number(in: 0...9)
            _ = node?.boolean()
            return nil
        }
        #expect(found.problems.count == 5)
        #expect(!found.problems.map(\.description).joined().contains("secret"))
    }
}

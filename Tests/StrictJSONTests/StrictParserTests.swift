import StrictJSON
import Testing

@Suite("The strict parser")
struct StrictParserTests {
    @Test(
        "reads every kind of value",
        arguments: [
            ("null", JSONValue.null), (" true ", true), ("\t[1 , -2]\r\n", [1, -2]),
            (#"{"a":{"b":[]}}"#, ["a": ["b": []]]), ("0.5", 0.5), ("-0", 0), ("1e2", 100),
            ("2.0", 2), ("9223372036854775807", .integer(.max)),
            ("-9223372036854775808", .integer(.min)), (#""\ud83d\ude00\u0041""#, "😀A"),
            (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{C}\n\r\t"), ("1e20", .number(1e20)),
            ("100000000000000000000", .number(1e20)), ("{}", [:]), (#""""#, ""),
        ] as [(String, JSONValue)]
    )
    func reads(text: String, expected: JSONValue) throws {
        #expect(try parse(text) == expected)
    }

    @Test(
        "refuses what RFC 8259 does not allow",
        arguments: [
            "", " ", "nul", "nullx", "True", "NaN", "Infinity", "-Infinity", "-", "+1", "01", "-01",
            "1.", ".5", "1e", "1e+", "1.e1", "0x10", "1 2", "[1,]", "[,1]", "[1", "{", "{}}", "[]]",
            #"{"a"}"#, #"{"a":}"#, #"{"a":1,}"#, #"{a:1}"#, #"{'a':1}"#, #"{"a" 1}"#, "\"", "\"a",
            "\"\n\"", "\"\u{0}\"", #""\x41""#, #""\u12""#, #""\u12G4""#, #""\"#, "'a'", "// a\n1",
            "[1]/**/", "\u{FEFF}1", "\u{A0}1", "\u{B}1", "[1;2]", "\u{0}",
        ]
    )
    func refuses(text: String) {
        #expect(throws: JSONError.self) { try parse(text) }
    }

    @Test(
        "refuses member names that occur twice, also when only escapes or composition differ",
        arguments: [
            #"{"a":1,"a":1}"#, #"{"a":1,"\u0061":2}"#, #"{"b":{"a":1,"c":0,"a":2}}"#,
            #"{"\u00e9":1,"e\u0301":2}"#, #"{"K":1,"\u212a":2}"#,
        ]
    )
    func refusesDuplicates(text: String) {
        #expect { try parse(text) } throws: { error in
            guard case .malformed(_, .duplicateName)? = error as? JSONError else { return false }
            return true
        }
    }

    @Test(
        "refuses half of a surrogate pair",
        arguments: [
            #""\ud800""#, #""\udc00""#, #""\ud800\ud800""#, #""\ud800x""#, #""\ud800\n""#,
            #""\udc00\ud800""#, #""\ud83d\u0041""#,
        ]
    )
    func refusesLoneSurrogates(text: String) {
        #expect { try parse(text) } throws: { error in
            guard case .malformed(_, .loneSurrogate)? = error as? JSONError else { return false }
            return true
        }
    }

    @Test(
        "refuses bytes that are not UTF-8",
        arguments: [
            [0x80], [0xC0, 0xAF], [0xE0, 0x80, 0xAF], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80],
            [0xFF], [0xC3], [0xF0, 0x9F, 0x98],
        ] as [[UInt8]]
    )
    func refusesBadEncoding(content: [UInt8]) {
        for escape in [[], Array(#"\n"#.utf8)] {
            let quoted = [0x22] + escape + content + [0x22]
            #expect(throws: JSONError.malformed(offset: 1, fault: .encoding)) {
                try JSONValue(parsing: quoted, limits: .frame)
            }
        }
    }

    @Test(
        "refuses numbers that lose their magnitude",
        arguments: [
            "1e400", "-1e400", "9223372036854775809", "123456789012345678901234567890", "1e-400",
            "1e999999999999999999999", String(repeating: "9", count: 500),
        ]
    )
    func refusesUnrepresentable(text: String) {
        #expect(throws: JSONError.malformed(offset: 0, fault: .numberRange)) { try parse(text) }
    }

    @Test("reads one number from every spelling of it")
    func oneFormPerNumber() throws {
        for spelling in ["2", "2.0", "2e0", "20E-1", "0.2e+1"] {
            #expect(try parse(spelling) == 2)
        }
        #expect(try parse("-0.0") == 0)
    }

    @Test(
        "a whole number beyond 53 bits is the same value before and after its canonical form",
        arguments: [
            "33333333333662e3", "1e17", "1.152921504606846976e18", "-9.2e18", "1e19", "1e21",
        ]
    )
    func wholeNumbersSurvive(text: String) throws {
        let value = try parse(text)
        #expect(try JSONValue(parsing: value.canonicalBytes, limits: .frame) == value)
    }
}

@Suite("The parser's limits")
struct ParserLimitTests {
    private let small = JSONLimits(
        maximumBytes: 40,
        maximumDepth: 3,
        maximumNodes: 6,
        maximumStringBytes: 5
    )

    @Test("a text of exactly the limit is read, one more is refused")
    func boundaries() throws {
        #expect(try parse("[[[]]]", small) == [[[]]])
        #expect(throws: JSONError.limitExceeded(offset: 3, limit: .depth, value: 3)) {
            try parse("[[[[]]]]", small)
        }
        #expect(try parse("[1,2,3,4,5]", small) == [1, 2, 3, 4, 5])
        #expect(throws: JSONError.limitExceeded(offset: 11, limit: .nodes, value: 6)) {
            try parse("[1,2,3,4,5,6]", small)
        }
        #expect(try parse(#""12345""#, small) == "12345")
        #expect(throws: JSONError.limitExceeded(offset: 1, limit: .stringBytes, value: 5)) {
            try parse(#""123456""#, small)
        }
        #expect(throws: JSONError.limitExceeded(offset: 1, limit: .stringBytes, value: 5)) {
            try parse(#""1234\n6""#, small)
        }
        let long = String(repeating: " ", count: 39)
        #expect(try parse(long + "1", small) == 1)
        #expect(throws: JSONError.limitExceeded(offset: 40, limit: .bytes, value: 40)) {
            try parse(long + " 1", small)
        }
    }

    @Test("member names count as nodes")
    func namesCount() {
        #expect(throws: JSONError.self) { try parse(#"{"a":1,"b":2,"c":3}"#, small) }
    }

    @Test("a million open brackets are refused without exhausting the stack")
    func hostileDepth() {
        let greedy = JSONLimits(
            maximumBytes: 1 << 21,
            maximumDepth: .max,
            maximumNodes: .max,
            maximumStringBytes: .max
        )
        let text = String(repeating: "[", count: 1_000_000)
        #expect(throws: JSONError.self) { try parse(text, greedy) }
        let objects = String(repeating: #"{"a":"#, count: 200_000)
        #expect(throws: JSONError.self) { try parse(objects, greedy) }
    }
}

import StrictJSON
import Testing

@Suite("The canonical form")
struct CanonicalFormTests {
    @Test("RFC 8785 section 3.2.2: literals, numbers and strings")
    func publishedSample() throws {
        let input = #"""
            {
              "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
              "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
              "literals": [null, true, false]
            }
            """#
        let expected =
            #"{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"#
            + #""string":"€$\u000f\nA'B\"\\\\\"/"}"#
        #expect(canonicalText(try parse(input)) == expected)
    }

    @Test("RFC 8785 section 3.2.3: member names sort by UTF-16 code units")
    func publishedSorting() throws {
        let input = #"""
            {
              "\u20ac": "Euro Sign",
              "\r": "Carriage Return",
              "\ufb33": "Hebrew Letter Dalet With Dagesh",
              "1": "One",
              "\ud83d\ude00": "Emoji: Grinning Face",
              "\u0080": "Control",
              "\u00f6": "Latin Small Letter O With Diaeresis"
            }
            """#
        let expected = [
            "Carriage Return", "One", "Control", "Latin Small Letter O With Diaeresis",
            "Euro Sign", "Emoji: Grinning Face", "Hebrew Letter Dalet With Dagesh",
        ]
        let text = canonicalText(try parse(input))
        let order = text.matches(of: /"([A-Z][^"]+)"/).map { String($0.output.1) }
        #expect(order == expected)
    }

    @Test(
        "RFC 8785 appendix B: number samples",
        arguments: [
            (0x0000_0000_0000_0000, "0"), (0x8000_0000_0000_0000, "0"),
            (0x0000_0000_0000_0001, "5e-324"), (0x8000_0000_0000_0001, "-5e-324"),
            (0x7fef_ffff_ffff_ffff, "1.7976931348623157e+308"),
            (0xffef_ffff_ffff_ffff, "-1.7976931348623157e+308"),
            (0x4340_0000_0000_0000, "9007199254740992"),
            (0xc340_0000_0000_0000, "-9007199254740992"),
            (0x4430_0000_0000_0000, "295147905179352830000"),
            (0x44b5_2d02_c7e1_4af5, "9.999999999999997e+22"),
            (0x44b5_2d02_c7e1_4af6, "1e+23"),
            (0x44b5_2d02_c7e1_4af7, "1.0000000000000001e+23"),
            (0x444b_1ae4_d6e2_ef4e, "999999999999999700000"),
            (0x444b_1ae4_d6e2_ef4f, "999999999999999900000"),
            (0x444b_1ae4_d6e2_ef50, "1e+21"),
            (0x3eb0_c6f7_a0b5_ed8c, "9.999999999999997e-7"),
            (0x3eb0_c6f7_a0b5_ed8d, "0.000001"),
            (0x41b3_de43_5555_5553, "333333333.3333332"),
            (0x41b3_de43_5555_5554, "333333333.33333325"),
            (0x41b3_de43_5555_5555, "333333333.3333333"),
            (0x41b3_de43_5555_5556, "333333333.3333334"),
            (0x41b3_de43_5555_5557, "333333333.33333343"),
            (0xbecb_f647_612f_3696, "-0.0000033333333333333333"),
            (0x4314_3ff3_c1cb_0959, "1424953923781206.2"),
        ] as [(UInt64, String)]
    )
    func publishedNumbers(bits: UInt64, expected: String) {
        #expect(canonicalText(.number(Double(bitPattern: bits))) == expected)
    }

    @Test(
        "numbers at the edges of ECMAScript's layouts",
        arguments: [
            (1e21, "1e+21"), (1e20, "100000000000000000000"), (0.1, "0.1"), (1e-6, "0.000001"),
            (1e-7, "1e-7"), (1.5e-7, "1.5e-7"), (123.456, "123.456"), (-2.5, "-2.5"),
            (100, "100"), (0.05, "0.05"), (1e16, "10000000000000000"),
            (1.2345678901234567e18, "1234567890123456800"), (12e-9, "1.2e-8"),
        ] as [(Double, String)]
    )
    func layouts(value: Double, expected: String) {
        #expect(canonicalText(.number(value)) == expected)
    }

    @Test("whole numbers keep all their digits")
    func integers() {
        #expect(canonicalText(.integer(.max)) == "9223372036854775807")
        #expect(canonicalText(.integer(.min)) == "-9223372036854775808")
    }

    @Test("the text for people has two spaces a level and sorted names")
    func pretty() {
        let value: JSONValue = ["b": [1, ["x": nil]], "a": [], "c": [:]]
        let expected = """
            {
              "a": [],
              "b": [
                1,
                {
                  "x": null
                }
              ],
              "c": {}
            }
            """
        #expect(value.prettyText() == expected)
    }

    @Test("equality follows bytes, not canonical equivalence")
    func byteEquality() {
        #expect(JSONValue.string("K") != .string("\u{212A}"))
        #expect(JSONValue.object(["\u{E9}": 1]) != .object(["e\u{301}": 1]))
        #expect(JSONValue.object(["a": 1, "b": 2]) == .object(["b": 2, "a": 1]))
    }
}

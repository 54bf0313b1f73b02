import Invigilator
import Testing

@Suite struct PlainTextTests {
    @Test("text from outside loses what steers a terminal and keeps what people write")
    func safeText() {
        #expect(SafeText.cleaned("a\u{1b}[2Jb\u{9b}c\u{202e}d\u{0}e") == "a?[2Jb?c?d?e")
        #expect(SafeText.cleaned("Grüße, 世界 ☂") == "Grüße, 世界 ☂")
        #expect(SafeText.cleaned("abcdef", atMost: 3) == "abc")
        #expect(SafeText.cleanedLines("a\n\tb\u{7}\n") == "a\n    b?\n")
    }

    @Test(
        "moments are told in UTC, over leap days and centuries",
        arguments: [
            (0, "1970-01-01 00:00:00Z"), (951_782_400_000, "2000-02-29 00:00:00Z"),
            (1_767_225_599_999, "2025-12-31 23:59:59Z"),
            (4_107_542_400_000, "2100-03-01 00:00:00Z"),
        ] as [(Int64, String)]
    )
    func moments(milliseconds: Int64, text: String) {
        #expect(ClockText.text(milliseconds) == text)
    }

    @Test("columns line up, and the last one is not padded")
    func columns() {
        var table = TextTable()
        table.add(["a", "long", "x"])
        table.add(["bbb", "s", "y"])
        #expect(table.lines() == ["  a    long  x", "  bbb  s     y"])
    }

    @Test("numbers are rounded half up with all their decimals")
    func numbers() {
        #expect(Decimal.text(0.5) == "0.5000")
        #expect(Decimal.text(0.99996) == "1.0000")
        #expect(Decimal.text(12.25, decimals: 1) == "12.3")
        #expect(Decimal.text(3, decimals: 0) == "3")
        // Such as the lower end of an interval around a difference.
        #expect(Decimal.text(-0.5, decimals: 2) == "-0.50")
        #expect(Decimal.text(-12.25, decimals: 1) == "-12.3")
        #expect(Decimal.text(-0.001, decimals: 2) == "0.00")
        #expect(Decimal.text(.infinity) == "inf" && Decimal.text(1e300) == "1e+300")
    }
}

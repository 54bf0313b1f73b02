import StrictJSON
import Testing

@Suite("The object reader")
struct ObjectReaderTests {
    @Test("takes every kind of member and finishes when nothing is left")
    func takesAll() throws {
        let value: JSONValue = [
            "s": "x", "i": 3, "n": 0.5, "b": true, "l": [1], "o": ["p": 1], "v": nil,
        ]
        var reader = try ObjectReader(value, location: "frame")
        #expect(try reader.requiredString("s") == "x")
        #expect(try reader.requiredInteger("i") == 3)
        #expect(try reader.requiredNumber("n") == 0.5)
        #expect(try reader.requiredBool("b"))
        #expect(try reader.requiredArray("l") == [1])
        var inner = try reader.requiredObject("o")
        #expect(inner.location == "frame.o")
        #expect(try inner.requiredNumber("p") == 1)
        try inner.finish()
        #expect(reader.remainingNames == ["v"])
        #expect(try reader.requiredValue("v") == .null)
        try reader.finish()
    }

    @Test("an unknown member is refused by name, and its name is made printable")
    func unknownMember() throws {
        let reader = try ObjectReader(["a\u{1B}[2Jé": 1], location: "frame")
        #expect(throws: JSONError.member(location: "frame.a?[2J??", fault: .unknown)) {
            try reader.finish()
        }
    }

    @Test("a missing member, a wrong kind and a null are refused")
    func refusals() throws {
        var reader = try ObjectReader(["s": nil, "i": 1.5, "t": "x"], location: "m")
        #expect(throws: JSONError.member(location: "m.x", fault: .missing)) {
            try reader.requiredString("x")
        }
        #expect(
            throws: JSONError.member(
                location: "m.s",
                fault: .kind(expected: "a string", found: "null")
            )
        ) { try reader.optionalString("s") }
        #expect(throws: JSONError.self) { try reader.requiredInteger("i") }
        #expect(throws: JSONError.self) { try reader.optionalObject("t") }
        #expect(throws: JSONError.self) { try ObjectReader([1], location: "m") }
        #expect(try reader.optionalBool("absent") == nil)
    }

    @Test("a member name matches by bytes")
    func exactNames() throws {
        var reader = try ObjectReader(["\u{212A}": 1], location: "m")
        #expect(reader.optionalValue("K") == nil)
        #expect(throws: JSONError.self) { try reader.finish() }
    }
}

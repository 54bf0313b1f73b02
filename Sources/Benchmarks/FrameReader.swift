internal import ExamResults
internal import StrictJSON

/// Reads the members of one frame; a thin layer over the strict reader that speaks
/// ``FrameError`` and knows the rules that several frames share.
struct FrameReader {
    private var object: ObjectReader

    init(_ value: JSONValue, location: String) throws(FrameError) {
        do throws(JSONError) {
            object = try ObjectReader(value, location: location)
        } catch {
            throw .json(error)
        }
    }

    private init(_ object: ObjectReader) {
        self.object = object
    }

    var location: String { object.location }

    private mutating func take<Value>(
        _ read: (inout ObjectReader) throws(JSONError) -> Value
    ) throws(FrameError) -> Value {
        do throws(JSONError) {
            return try read(&object)
        } catch {
            throw .json(error)
        }
    }

    func finish() throws(FrameError) {
        do throws(JSONError) {
            try object.finish()
        } catch {
            throw .json(error)
        }
    }

    func bad(_ name: String, _ rule: String) -> FrameError {
        .badMember(location: "\(location).\(name)", rule: rule)
    }

    func isPresent(_ name: String) -> Bool {
        object.contains(name)
    }

    mutating func text(_ name: String, maximumBytes: Int) throws(FrameError) -> String {
        let text = try take { reader throws(JSONError) in try reader.requiredString(name) }
        guard text.utf8.count <= maximumBytes else {
            throw bad(name, "at most \(maximumBytes) bytes")
        }
        return text
    }

    /// A name of 1 to `maximumBytes` printable ASCII characters without spaces.
    mutating func word(_ name: String, maximumBytes: Int) throws(FrameError) -> String {
        let text = try text(name, maximumBytes: maximumBytes)
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x21..<0x7F).contains($0) }) else {
            throw bad(name, "1 to \(maximumBytes) printable ASCII characters without spaces")
        }
        return text
    }

    mutating func optionalWord(_ name: String, maximumBytes: Int) throws(FrameError) -> String? {
        isPresent(name) ? try word(name, maximumBytes: maximumBytes) : nil
    }

    mutating func flag(_ name: String) throws(FrameError) -> Bool {
        try take { reader throws(JSONError) in try reader.optionalBool(name) } ?? false
    }

    mutating func integer(_ name: String, in range: ClosedRange<Int>) throws(FrameError) -> Int {
        let value = try take { reader throws(JSONError) in try reader.requiredInteger(name) }
        guard range.contains(value) else {
            throw bad(name, "from \(range.lowerBound) to \(range.upperBound)")
        }
        return value
    }

    mutating func number(_ name: String, in range: ClosedRange<Double>) throws(FrameError) -> Double
    {
        let value = try take { reader throws(JSONError) in try reader.requiredNumber(name) }
        guard range.contains(value) else {
            throw bad(name, "from \(range.lowerBound) to \(range.upperBound)")
        }
        return value
    }

    mutating func list(_ name: String, count: ClosedRange<Int>) throws(FrameError) -> [JSONValue] {
        let values = try take { reader throws(JSONError) in try reader.requiredArray(name) }
        guard count.contains(values.count) else {
            throw bad(name, "a list of \(count.lowerBound) to \(count.upperBound) elements")
        }
        return values
    }

    /// An object that is passed on as it is, rebuilt from its parsed value.
    mutating func members(_ name: String) throws(FrameError) -> [String: JSONValue] {
        let value = try take { reader throws(JSONError) in try reader.requiredValue(name) }
        guard case .object(let members) = value else { throw bad(name, "an object") }
        return members
    }

    mutating func object(_ name: String) throws(FrameError) -> FrameReader {
        FrameReader(
            try take { reader throws(JSONError) in try reader.requiredObject(name) }
        )
    }

    mutating func session() throws(FrameError) -> SessionID {
        let text = try text("session", maximumBytes: 16)
        return try SessionID(hex: text, location: "\(location).session")
    }

    mutating func task() throws(FrameError) -> TaskID {
        let text = try text("task", maximumBytes: 128)
        do throws(ExamError) {
            return try TaskID(text)
        } catch {
            throw bad("task", "a task name")
        }
    }

    mutating func reward() throws(FrameError) -> Reward {
        let value = try take { reader throws(JSONError) in try reader.requiredNumber("reward") }
        do throws(ExamError) {
            return try Reward(value)
        } catch {
            throw bad("reward", "a number from 0 to 1")
        }
    }
}

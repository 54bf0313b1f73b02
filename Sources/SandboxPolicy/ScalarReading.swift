internal import SandboxPlan

/// Reads single values; each problem is reported and answered with nil.
struct ScalarReading {
    let problems: ProblemList

    func text(_ node: PolicyNode?) -> String? {
        guard let node else { return nil }
        guard case .text(let text) = node.content, !text.isEmpty else {
            problems.add(node.place, "expected a text, found \(node.kind)", remedy: "write a text")
            return nil
        }
        return text
    }

    func boolean(_ node: PolicyNode?) -> Bool? {
        choice(node, ["true": true, "false": false])
    }

    /// One of a closed set of words.
    func choice<Value>(_ node: PolicyNode?, _ choices: [String: Value]) -> Value? {
        guard let node, let text = text(node) else { return nil }
        guard let value = choices[text] else {
            problems.add(
                node.place,
                .notKnown(text.debugDescription, choices.keys.sorted().joined(separator: ", "))
            )
            return nil
        }
        return value
    }

    /// A whole number, decimal or with the prefix 0x.
    func integer<Value: FixedWidthInteger>(
        _ node: PolicyNode?,
        in range: ClosedRange<Value>
    ) -> Value? {
        guard let node, let text = text(node) else { return nil }
        let isHexadecimal = text.hasPrefix("0x")
        let digits = isHexadecimal ? String(text.dropFirst(2)) : text
        let isPlain = digits.utf8.allSatisfy { ($0 >= 48 && $0 <= 57) || $0 > 57 }
        guard isPlain, let value = Value(digits, radix: isHexadecimal ? 16 : 10),
            range.contains(value)
        else {
            problems.add(
                node.place,
                .outOfBounds(text.debugDescription, "\(range.lowerBound)", "\(range.upperBound)")
            )
            return nil
        }
        return value
    }

    /// A size with a unit: B, KiB, MiB or GiB.
    func size(_ node: PolicyNode?) -> ByteCount? {
        measure(node, units: ["B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30], "512MiB")
            .map(ByteCount.init(bytes:))
    }

    /// A time with a unit: ms, s, m or h.
    func time(_ node: PolicyNode?) -> Milliseconds? {
        measure(node, units: ["ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000], "90s")
            .map(Milliseconds.init)
    }

    private func measure(_ node: PolicyNode?, units: [String: UInt64], _ example: String) -> UInt64?
    {
        guard let node, let text = text(node) else { return nil }
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        let unit = String(text.dropFirst(digits.count))
        if let number = UInt64(digits), let factor = units[unit] {
            let (value, overflow) = number.multipliedReportingOverflow(by: factor)
            if !overflow, value > 0, value < 1 << 53 { return value }
        }
        let names = units.keys.sorted().joined(separator: ", ")
        problems.add(node.place, .noQuantity(text.debugDescription, names, example))
        return nil
    }

    func path(_ node: PolicyNode?) -> InsidePath? {
        guard let node, let text = text(node) else { return nil }
        do throws(PlanError) {
            return try InsidePath(text)
        } catch {
            problems.add(node.place, error.reason, remedy: error.remedy)
            return nil
        }
    }

    /// The items of a list; a missing list is an empty one.
    func list(_ node: PolicyNode?) -> [PolicyNode] {
        guard let node else { return [] }
        guard case .list(let items) = node.content else {
            problems.add(node.place, "expected a list, found \(node.kind)", remedy: "write [a, b]")
            return []
        }
        return items
    }

    /// A list in which every item is read and none is said twice.
    func distinct<Value: Equatable>(
        _ node: PolicyNode?,
        _ read: (PolicyNode) -> Value?
    ) -> [Value] {
        var values: [Value] = []
        for item in list(node) {
            guard let value = read(item) else { continue }
            if values.contains(value) {
                problems.add(item.place, "said twice", remedy: "remove one of them")
            } else {
                values.append(value)
            }
        }
        return values
    }

    /// A list of texts, in order.
    func texts(_ node: PolicyNode?) -> [String] {
        list(node).compactMap { text($0) }
    }
}

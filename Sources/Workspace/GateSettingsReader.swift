internal import StrictYAML

extension GateSettings {
    /// Reads the keys that say what the sealed exam must show.
    ///
    /// - Parameter section: the mapping `gate`, if there is one.
    mutating func readRule(_ section: inout MappingReader?) {
        rule = section?.word("rule", of: Rule.self)?.value
        trials = section?.integer("trials", in: 1...100)?.value
        let error = section?.number("error", in: 0.000_001...0.5)
        let tests = section?.integer("tests", in: 1...1_000_000)
        let margin = section?.number("margin", in: 0.001...0.5)
        let ties = section?.word("ties", of: Ties.self)
        self.ties = ties?.value
        final = section?.number("final", in: 0...0.9)?.value
        self.error = error?.value
        self.tests = tests?.value
        self.margin = margin?.value
        if let ties, let rule, rule != .ratchet {
            section?.refuse(
                "ties",
                line: ties.line,
                "a paired rule never accepts equal results",
                remedy: "remove the key, or write rule: ratchet"
            )
        }
        if rule == .ratchet {
            let spent = [("error", error?.line), ("tests", tests?.line)]
            for case (let key, let line?) in spent {
                section?.refuse(
                    key,
                    line: line,
                    "the ratchet makes no test, so there is no error to spend",
                    remedy: "remove the key, or write rule: paired"
                )
            }
        }
        if rule == .nonInferior, margin == nil {
            section?.refuse(
                "margin",
                line: section?.place.line ?? 1,
                "the rule non-inferior needs the share of the incumbent's rate that may be lost",
                remedy: "write a margin, such as 0.02"
            )
        }
        if let margin, rule != .nonInferior {
            section?.refuse(
                "margin",
                line: margin.line,
                "only the rule non-inferior has a margin",
                remedy: "remove the key, or write rule: non-inferior"
            )
        }
    }
}

extension SandboxPlan {
    /// Whether a payload can make a call in some form: by its filter, or by init, which counts it.
    ///
    /// - Parameters:
    ///   - number: the call's number.
    ///   - argument: what the low half of its first argument is; nil for any.
    /// - Returns: whether some form of it is allowed.
    /// - Throws: ``PlanError`` where no such filter is compiled.
    public func allows(_ number: UInt32, _ argument: UInt32? = nil) throws(PlanError) -> Bool {
        var walk = try FilterWalk(filter)
        return try walk.answers(to: number).contains { answer, known in
            var known = known
            if let argument {
                guard (known[0].value ^ argument) & known[0].mask == 0 else { return false }
                known[0] = (.max, argument)
            }
            return answer == .allowed
                || answer == .told && counted.contains { $0.canCover(number, known) }
        }
    }
}

package import HostProbe

/// Checks of what an ordinary user was given for the level `delegated`.
package struct DelegationChecks {
    private let found: DelegationProbe

    package init(_ found: DelegationProbe) {
        self.found = found
    }

    /// The checks.
    package var all: [HostCheck] {
        [
            check("subordinate-ids", found.users, "65,536 or more"),
            check("delegated-group", found.group, "this process's control group can be divided"),
        ]
    }

    private func check(_ name: String, _ gap: DelegationProbe.Gap?, _ good: String) -> HostCheck {
        guard let gap else { return HostCheck(name, .good, good) }
        return HostCheck(name, .gap(cure: gap.cure), gap.reason)
    }
}

package import HostProbe

/// Checks of what a container or a hardened unit leaves to root.
package struct ContainedRootChecks {
    private let found: ContainedRoot

    package init(_ found: ContainedRoot) {
        self.found = found
    }

    /// The checks.
    package var all: [HostCheck] { [capabilities, procfs] }

    private var capabilities: HostCheck {
        let missing = found.missingCapabilities.joined(separator: ", ")
        guard !missing.isEmpty else {
            return HostCheck("capabilities", .good, "root has all that are needed")
        }
        let cure =
            "in a container, add \(missing) (--cap-add); in a unit, to its CapabilityBoundingSet="
        return HostCheck("capabilities", .gap(cure: cure), "root here lacks \(missing)")
    }

    // The kernel makes a new procfs in a user namespace only where one is mounted that nothing covers
    // (fs/namespace.c, mount_too_revealing).
    private var procfs: HostCheck {
        guard let first = found.coveredPlaces.first else {
            return HostCheck("procfs", .good, "nothing covers it")
        }
        let more = found.coveredPlaces.count - 1
        return HostCheck(
            "procfs",
            .gap(
                cure:
                    "in a container, --security-opt unmask=ALL (podman) or systempaths=unconfined "
                    + "(docker); in a unit, no ProtectKernelTunables= and no ProtectKernelLogs="
            ),
            "covered at \(first)\(more > 0 ? " and \(more) more places" : ""), so that the kernel "
                + "makes no new one for a sandbox"
        )
    }
}

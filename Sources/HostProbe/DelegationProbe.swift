internal import HostKernel
internal import LinuxKernel

/// What an ordinary user was given for sandboxes of the level `delegated`: subordinate ids, and a control group.
public struct DelegationProbe: Sendable, Equatable {
    /// Something that is missing, and what an administrator or the user does about it.
    public struct Gap: Sendable, Equatable {
        /// What was found.
        public let reason: String
        /// What to do.
        public let cure: String
    }

    /// What is missing of subordinate ids; nothing where they are there.
    public let users: Gap?
    /// What is missing of the control group; nothing where it can be divided.
    public let group: Gap?

    /// Whether both are there.
    public var isWhole: Bool { users == nil && group == nil }

    /// util-linux's program that enters a user namespace with the ids of newuidmap(1).
    public static let unshare = "/usr/bin/unshare"
    private static let mount = "/sys/fs/cgroup"

    /// Looks at this process's user and group: ids are mapped for a program that shows them.
    public static func probe() -> DelegationProbe {
        DelegationProbe(
            idMap: mappedIDs(),
            membership: HostText.whole("/proc/self/cgroup"),
            user: Identity.effectiveUser,
            offered: { HostText.whole("\(mount)\($0)/cgroup.controllers") },
            owner: owner
        )
    }

    /// Judges what was found.
    ///
    /// - Parameters:
    ///   - idMap: the user map of a namespace with the user's ids (user_namespaces(7)), or why there is none.
    ///   - membership: the text of `/proc/self/cgroup` (cgroups(7)).
    ///   - user: who we are.
    ///   - offered: the controllers of a group, by its path.
    ///   - owner: who owns a file below the mount of control groups; nothing where it cannot be looked at.
    package init(
        idMap: Result<String, IDMapFailure>,
        membership: String,
        user: UInt32,
        offered: (String) -> String,
        owner: (String) -> UInt32?
    ) {
        users = Self.gap(idMap)
        group = Self.gap(membership, user, offered, owner)
    }

    /// Why no ids could be mapped.
    package struct IDMapFailure: Error, Equatable {
        package let reason: String

        package init(reason: String) {
            self.reason = reason
        }
    }

    // MARK: - ids

    private static let idCure =
        "apt install uidmap, and as root: usermod --add-subuids 100000-165535 --add-subgids "
        + "100000-165535 USER (a range that nobody else has)"

    // The launcher gives sandboxes the ids up to 65,535, and user 0 is the caller.
    private static func gap(_ idMap: Result<String, IDMapFailure>) -> Gap? {
        let text: String
        do throws(IDMapFailure) { text = try idMap.get() } catch {
            return Gap(reason: error.reason, cure: idCure)
        }
        let lines = text.split(separator: "\n").map { line in
            line.split(separator: " ").compactMap { UInt64($0) }
        }
        let isWhole = lines.contains { $0.count == 3 && $0[0] <= 2 && $0[0] + $0[2] >= 65_536 }
        return isWhole ? nil : Gap(reason: "fewer than 65,536 subordinate ids", cure: idCure)
    }

    private static func mappedIDs() -> Result<String, IDMapFailure> {
        do throws(SystemError) {
            let outcome = try Spawn.run(
                unshare,
                arguments: [
                    "--user", "--map-root-user", "--map-auto", "--", "/bin/cat",
                    "/proc/self/uid_map",
                ],
                environment: ["PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C"]
            )
            guard outcome.end.exitCode == 0 else {
                let said = String(decoding: outcome.errors.prefix { $0 != 10 }, as: UTF8.self)
                return .failure(IDMapFailure(reason: "unshare said: \(said)"))
            }
            return .success(String(decoding: outcome.output, as: UTF8.self))
        } catch {
            return .failure(IDMapFailure(reason: "\(error)"))
        }
    }

    // MARK: - group

    private static let scope = "systemd-run --user --scope -p Delegate=yes invigilator …"

    private static func gap(
        _ membership: String,
        _ user: UInt32,
        _ offered: (String) -> String,
        _ owner: (String) -> UInt32?
    ) -> Gap? {
        let lines = membership.split(separator: "\n")
        guard lines.count == 1, let path = lines.first, path.hasPrefix("0::") else {
            return Gap(
                reason: "control groups of version 1 are mounted, which are not for ordinary users",
                cure: "boot with systemd.unified_cgroup_hierarchy=1"
            )
        }
        let group = path == "0::/" ? "" : String(path.dropFirst(3))
        let files = ["", "/cgroup.procs", "/cgroup.subtree_control"]
        guard files.allSatisfy({ owner(group + $0) == user }) else {
            return Gap(
                reason: "the control group \(group.isEmpty ? "/" : group) is not this user's",
                cure: "start it as \(scope)"
            )
        }
        let there = offered(group).split { $0 == " " || $0 == "\n" }.map(String.init)
        let missing = ["memory", "pids", "cpu"].filter { !there.contains($0) }
            .joined(separator: ", ")
        guard missing.isEmpty else {
            return Gap(
                reason: "the control group \(group) has no controller \(missing)",
                cure: "as root, let user managers have it: Delegate=cpu memory pids in "
                    + "/etc/systemd/system/user@.service.d/delegate.conf; then start it as \(scope)"
            )
        }
        return nil
    }

    private static func owner(_ path: String) -> UInt32? {
        do throws(SystemError) {
            return try FileStatus(path: mount + path).owner
        } catch {
            return nil  // what cannot be looked at is not ours
        }
    }
}

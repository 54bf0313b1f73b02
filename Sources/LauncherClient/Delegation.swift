/// The programs through which an ordinary user's launcher comes to users and control groups of its own: the
/// level `delegated`.
///
/// The launcher starts as the root of a user namespace that knows the user's subordinate ids
/// (user_namespaces(7), subuid(5)), in a control-group namespace whose topmost group is the one that was
/// delegated to the user (cgroups(7), "Cgroups delegation").
public struct Delegation: Sendable, Equatable {
    /// The program that is started, by its absolute path.
    public let program: String
    /// Its arguments, which the launcher's program and arguments follow.
    public let arguments: [String]

    /// Names the programs.
    ///
    /// - Parameters:
    ///   - unshare: util-linux's, 2.38 or newer (unshare(1)).
    ///   - ownGroups: ours, which mounts the delegated group and divides it.
    public init(unshare: String, ownGroups: String) {
        program = unshare
        arguments = ["--user", "--map-root-user", "--map-auto", "--", ownGroups]
    }
}

internal import HostProbe
public import LauncherClient
public import LinuxKernel
internal import SandboxPlan

extension LauncherClient {
    /// Starts a launcher and waits until it is ready, or says what the host lacks for an ordinary user's.
    ///
    /// An ordinary user's launcher enters namespaces of its own before it is ready. Where it ended instead,
    /// its own last words name the call; what to do about that is read from the host's settings here.
    ///
    /// - Parameters:
    ///   - options: how it is started.
    ///   - loop: the loop that serves it.
    /// - Returns: the launcher.
    /// - Throws: ``SupervisorError``.
    public static func started(
        _ options: LauncherOptions,
        loop: EventLoop
    ) throws(SupervisorError) -> LauncherClient {
        do throws(LauncherError) { return try start(options, loop: loop) } catch {
            guard case .lost = error, options.reach == .singleUID else {
                throw SupervisorError(error)
            }
            let facts = HostFacts.probe(pythonPath: nil, homes: [])
            throw SupervisorError(
                .hostFailed,
                operation: "start the launcher",
                location: "user namespaces",
                reason: "this host reaches no-userns: "
                    + (facts.userNamespaceObstacle
                        ?? "the launcher could enter none of its own, its last words are above"),
                remedy: facts.userNamespaceCure(rule: HostFacts.userNamespaceRule)
            )
        }
    }
}

// invigilator-launcher: the privileged part. Static, one thread, no Foundation, decides nothing.

internal import LauncherProtocol
internal import LinuxKernel
internal import SandboxPlan

Invocation.main()

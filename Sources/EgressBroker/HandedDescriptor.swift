package import LinuxKernel
internal import Synchronization

/// A descriptor on its way from the supervisor's socket to the task that will own it.
///
/// Closed with the last reference where nobody takes it.
package final class HandedDescriptor: Sendable {
    private let held: Mutex<Descriptor?>

    /// Takes a descriptor over.
    package init(_ descriptor: consuming Descriptor) {
        held = Mutex(descriptor)
    }

    /// Hands the descriptor over, once; nil afterwards.
    package func take() -> Descriptor? {
        held.withLock { $0.take() }
    }
}

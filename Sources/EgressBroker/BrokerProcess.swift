// EgressBroker: the only process with a network and keys; serves the model listeners of sandboxes.

internal import Glibc
internal import LinuxKernel
internal import NIOPosix

/// The broker as a process: orders come in on descriptor 3, and its end is the end of everything.
package enum BrokerProcess {
    /// Serves until the supervisor is gone; does not return.
    package static func run() async -> Never {
        // A file that is full is an error of one write, not the end of everything.
        _ = signal(SIGXFSZ, SIG_IGN)
        let socket: ControlSocket
        do throws(SystemError) {
            socket = ControlSocket(try Descriptor.copy(ofInherited: 3))
        } catch {
            Complaint.fatal("\(error)")
        }
        let (orders, feed) = AsyncStream.makeStream(of: BrokerOrder.self)
        let reader = NIOThreadPool(numberOfThreads: 1)
        reader.start()
        reader.submit { _ in
            socket.read { feed.yield($0) }
            // Without a supervisor nobody pays and nobody closes: nothing is finished in good order.
            CurrentProcess.exitNow(0)
        }
        let service = BrokerService(
            settings: BrokerSettings(),
            group: MultiThreadedEventLoopGroup(numberOfThreads: 1),
            report: { socket.send($0) }
        )
        await service.run(orders)
        CurrentProcess.exitNow(0)
    }
}

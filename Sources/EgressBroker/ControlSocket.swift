package import BrokerProtocol
internal import HostKernel
internal import LinuxKernel
internal import NIOPosix
internal import StrictJSON
internal import Synchronization

/// One request of the supervisor with what came along.
package struct BrokerOrder: Sendable {
    /// What is asked.
    package let request: BrokerRequest
    /// The descriptors, in the order in which they were sent.
    package let descriptors: [HandedDescriptor]

    /// Makes an order.
    package init(_ request: BrokerRequest, _ descriptors: [HandedDescriptor] = []) {
        self.request = request
        self.descriptors = descriptors
    }
}

/// The supervisor's socket (M5), on descriptor 3.
///
/// Its end is the end of this process: without a supervisor nobody pays, and nobody closes.
final class ControlSocket: Sendable {
    private let socket: Descriptor
    // One thread, so that reports keep their order, and a slow supervisor stops no stream.
    private let writer = NIOThreadPool(numberOfThreads: 1)
    private let waiting = Mutex(0)

    // More reports than this mean that nobody reads them.
    private static let mostWaiting = 100_000

    init(_ socket: consuming Descriptor) {
        self.socket = socket
        writer.start()
    }

    /// Sends a report after those before it; never waits.
    func send(_ report: BrokerReport) {
        let depth = waiting.withLock { count in
            count += 1
            return count
        }
        guard depth < Self.mostWaiting else {
            Complaint.fatal("the supervisor does not read; \(depth) reports wait")
        }
        let bytes = report.bytes
        writer.submit { [self] state in
            guard case .active = state else { return }
            do throws(SystemError) {
                try socket.send(bytes)
            } catch {
                // The thread that reads ends this process.
                guard !error.isDisconnected else { return }
                Complaint.fatal("\(error)")
            }
            waiting.withLock { $0 -= 1 }
        }
    }

    /// Reads requests until the supervisor is gone; blocks the thread that calls it.
    func read(_ handler: (BrokerOrder) -> Void) {
        while true {
            do throws(SystemError) {
                var message = try socket.receive()
                guard !message.bytes.isEmpty else { return }
                var descriptors: [HandedDescriptor] = []
                while let next = message.takeDescriptor() {
                    descriptors.append(HandedDescriptor(next))
                }
                handle(message.bytes, descriptors, handler)
            } catch {
                // Closed with reports unread.
                guard !error.isDisconnected else { return }
                Complaint.fatal("\(error)")
            }
        }
    }

    private func handle(
        _ bytes: [UInt8],
        _ descriptors: [HandedDescriptor],
        _ handler: (BrokerOrder) -> Void
    ) {
        do throws(JSONError) {
            let request = try BrokerRequest(bytes: bytes)
            handler(BrokerOrder(request, descriptors))
        } catch {
            // The error names a place in the packet and never quotes a free text of it, such as a key.
            Complaint.fatal("a packet is no request of this version (\(error))")
        }
    }
}

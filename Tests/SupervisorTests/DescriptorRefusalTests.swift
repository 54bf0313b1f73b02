import Foundation
import HostKernel
import LinuxKernel
import Testing

@Suite("Descriptors that somebody sends the supervisor")
struct DescriptorRefusalTests {
    // Linux 6.16 brought SO_PASSRIGHTS.
    private static var isKnown: Bool {
        let release = ProcessInfo.processInfo.operatingSystemVersion
        return (release.majorVersion, release.minorVersion) >= (6, 16)
    }

    /// What the kernel says to who sends one.
    private func sending(over socket: borrowing Descriptor) throws -> Int32 {
        var along = DescriptorPlacements()
        let file = try Descriptor.open("/dev/null", .read)
        along.add(file)
        do throws(SystemError) { try socket.send([1], with: along) } catch { return error.number }
        return 0
    }

    @Test(
        "the kernel refuses them where they are sent, and what has none passes",
        .enabled(if: isKnown, "this kernel cannot refuse descriptors (Linux 6.16)")
    )
    func refused() throws {
        for keepsMessages in [true, false] {
            var pair = try DescriptorPair.sockets(keepsMessages: keepsMessages)
            let ours = pair.takeFirst()
            let theirs = pair.takeSecond()
            #expect(try sending(over: theirs) == 0)
            try ours.refuseDescriptors()
            #expect(try sending(over: theirs) == EPERM)
            try theirs.send([2])
            #expect(try sending(over: ours) == 0)
        }
    }

    @Test(
        "whoever connects to a request socket cannot send one, before it is accepted and after",
        .enabled(if: isKnown, "this kernel cannot refuse descriptors (Linux 6.16)")
    )
    func listener() throws {
        let path = "/tmp/descriptor-refusal-\(UUID().uuidString)"
        let listener = try UnixListener(path: path)
        let client = try UnixListener.connect(path: path)
        try FileManager.default.removeItem(atPath: path)
        #expect(try sending(over: client) == EPERM)
        switch try listener.accept() {
        case .some(let served):
            #expect(try sending(over: client) == EPERM)
            #expect(try sending(over: served) == 0)
        case .none: Issue.record("nobody was accepted")
        }
    }
}

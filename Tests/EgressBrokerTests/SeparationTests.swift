import BrokerProtocol
import EgressBroker
import Foundation
import ModelDialects
import NIOCore
import Synchronization
import Testing

@Suite("What two sandboxes do not share in the broker", .timeLimit(.minutes(1)))
struct SeparationTests {
    private let path = "/v1/chat/completions"

    // On a host as busy as that of these tests no connection ends before the listener does.
    private var patient: BrokerSettings {
        var settings = BrokerSettings()
        settings.spare = .minutes(10)
        return settings
    }

    /// A bench whose provider keeps its connections open, and logs them.
    private func bench(
        _ provider: ScriptedProvider,
        host: String = "127.0.0.1",
        resolver: NameResolver? = nil
    ) -> BrokerBench {
        let bench = BrokerBench(settings: patient, resolver: resolver)
        bench.configure([EgressBrokerTests.provider(provider.port, host: host)])
        return bench
    }

    private func close(_ number: Int, _ bench: BrokerBench) async {
        bench.order(.close(listener: number))
        _ = await bench.wait { if case .closed(number, _) = $0 { true } else { nil } }
    }

    @Test(
        "no connection of a sealed exam carries a call of the coding agent, nor one of its own an exam's"
    )
    func exam() async throws {
        let provider = try await ScriptedProvider { _ in [.send(Said.chat)] }
        let bench = bench(provider)
        let agent = try await bench.open(1)
        // One sandbox's calls do share a connection: the instrument sees that.
        for _ in 0..<2 { #expect(try await Talk.post(agent, path, Asked.chat).status == 200) }
        #expect(provider.connectionOfRequest == [1, 1])
        let exam = try await bench.open(2, isSealed: true, role: .candidate)
        for _ in 0..<2 { #expect(try await Talk.post(exam, path, Asked.chat).status == 200) }
        #expect(provider.connectionOfRequest == [1, 1, 2, 2])
        await close(2, bench)
        #expect(try await Talk.post(agent, path, Asked.chat).status == 200)
        // Started again, it does not get the exam's connection either, nor its own.
        await close(1, bench)
        let again = try await bench.open(3)
        #expect(try await Talk.post(again, path, Asked.chat).status == 200)
        #expect(provider.connectionOfRequest == [1, 1, 2, 2, 1, 3])
        await bench.end()
    }

    @Test("roles, exams and rollouts have a connection each, also while they run at a time")
    func roles() async throws {
        let provider = try await ScriptedProvider { _ in [.send(Said.chat)] }
        let bench = bench(provider)
        let roles: [(ModelRole, Bool)] = [
            (.codingAgent, false), (.candidate, true), (.candidate, true), (.candidate, false),
            (.userSimulator, true), (.judge, false),
        ]
        var ports: [Int] = []
        for (index, (role, isSealed)) in roles.enumerated() {
            ports.append(try await bench.open(index + 1, isSealed: isSealed, role: role))
        }
        for port in ports + ports {
            #expect(try await Talk.post(port, path, Asked.chat).status == 200)
        }
        #expect(provider.connectionOfRequest == [1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6])
        await bench.end()
    }

    @Test(
        "of a closed listener's connections the kernel has none, though the provider says no goodbye"
    )
    func ended() async throws {
        let name = "api.provider.example"
        let authority = try TestAuthority()
        let provider = try await ScriptedProvider(host: name, tls: authority.server(name)) { _ in
            [.deafen, .send(Said.chat)]
        }
        let bench = BrokerBench(
            settings: patient,
            resolver: NameResolver { _ in [[127, 0, 0, 1]] }
        )
        bench.configure([
            EgressBrokerTests.provider(
                provider.port,
                host: name,
                scheme: "https",
                trust: authority.certificate
            )
        ])
        let exam = try await bench.open(1, isSealed: true, role: .candidate)
        #expect(try await Talk.post(exam, path, Asked.chat).status == 200)
        #expect(try Self.ways(to: provider.port) == 1)
        await close(1, bench)
        // A goodbye would leave a connection for five seconds (NIOSSL), and its end for a minute
        // (TIME_WAIT, tcp(7)).
        #expect(try Self.ways(to: provider.port) == 0)
        await bench.end()
        try authority.remove()
    }

    @Test("a name is looked up for each listener when it opens, whether its sandbox asks or not")
    func names() async throws {
        let name = "api.provider.example"
        let provider = try await ScriptedProvider(host: name) { _ in [.send(Said.chat)] }
        let asked = Mutex(0)
        let resolver = NameResolver { _ in
            asked.withLock { $0 += 1 }
            return [[127, 0, 0, 1]]
        }
        let bench = bench(provider, host: name, resolver: resolver)
        _ = try await bench.open(1, isSealed: true, role: .candidate)
        let talker = try await bench.open(2, isSealed: true, role: .candidate)
        for _ in 0..<3 { #expect(try await Talk.post(talker, path, Asked.chat).status == 200) }
        while asked.withLock(\.self) < 2 { await Task.yield() }
        #expect(asked.withLock(\.self) == 2)
        await bench.end()
    }

    // How many sockets have a port at their other end, in whatever state (proc(5), /proc/net/tcp, column 3).
    private static func ways(to port: Int) throws -> Int {
        let file = try #require(FileHandle(forReadingAtPath: "/proc/net/tcp"))
        let table = String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
        let digits = String(port, radix: 16, uppercase: true)
        let name = ":" + String(repeating: "0", count: 4 - digits.count) + digits
        return table.split(separator: "\n").dropFirst()
            .count { $0.split(separator: " ")[2].hasSuffix(name) }
    }
}

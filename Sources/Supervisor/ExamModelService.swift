internal import Benchmarks
internal import BrokerClient
internal import HostKernel
internal import LauncherClient
internal import LinuxKernel
internal import ModelDialects

// Models for the sandboxes of an exam. What is said in a train exam is kept with the rollout's trace; a
// sealed one gets no file to keep it in.

extension ModelService {
    /// How often each side of a rollout of a sealed exam may ask a model: each call makes objects whose
    /// numbers the whole host counts, and how many there can be has to be known before the exam.
    ///
    /// - Parameter turns: how many turns a session has.
    /// - Returns: the number of calls.
    static func callsOfSealedRollout(turns: Int) -> Int { min(4 * turns, 256) }

    /// The models of one exam.
    ///
    /// - Parameters:
    ///   - directory: where files are while rollouts of train tasks run.
    ///   - calls: how often each side of one sealed rollout may ask.
    ///   - rollouts: how many the exam has, which one examiner serves.
    /// - Returns: the models; nil where neither side has one.
    func examModels(filesIn directory: String, calls: Int, rollouts: Int) -> ExamModels? {
        guard hasModel(for: [.candidate, .userSimulator, .judge]) else { return nil }
        return ExamModels { [self] sandbox, side, isSealed throws(ExamModelFault) in
            let most = side == .candidate ? calls : calls * rollouts
            do throws(SupervisorError) {
                return try join(
                    sandbox,
                    side,
                    filesIn: isSealed ? nil : directory,
                    atMost: isSealed ? most : nil
                )
            } catch { throw ExamModelFault(error.description) }
        }
    }

    private func join(
        _ sandbox: RunningSandbox,
        _ side: ExamSide,
        filesIn directory: String?,
        atMost requests: Int?
    ) throws(SupervisorError) -> ExamModels.Leave? {
        let roles: [ModelRole] =
            switch side {
            case .candidate: [.candidate]
            case .examiner: [.userSimulator, .judge]
            }
        guard hasModel(for: roles) else { return nil }
        let file = try directory.map { path throws(SupervisorError) in
            try NamelessFile(in: path)
        }
        let listener = try serve(
            sandbox,
            roles: roles,
            bodies: file?.writer,
            atMost: requests
        )
        guard let listener else { return nil }
        return { [self] () throws(ExamModelFault) in
            do throws(SupervisorError) {
                try close(listener)
                return try file?.contents() ?? []
            } catch { throw ExamModelFault(error.description) }
        }
    }
}

/// A file without a name: its bytes go when both ends are closed.
private struct NamelessFile {
    let writer: BrokerClient.Along
    private let reader: BrokerClient.Along

    // A rollout's calls are read by people; a longer talk is cut in its trace.
    private static let mostBytes = 4 << 20

    init(in directory: String) throws(SupervisorError) {
        let name = ".calls"
        (writer, reader) = try system("make a file for calls", directory) {
            () throws(SystemError) in
            let folder = try Descriptor.open(directory, [.read, .directory])
            let writer = try folder.openBeneath(name, [.write, .createNew, .append])
            let reader = try folder.openBeneath(name, .read)
            try folder.remove(name)
            return (Descriptor?.Box(writer), Descriptor?.Box(reader))
        }
    }

    /// What was written, cut at a limit.
    func contents() throws(SupervisorError) -> [UInt8] {
        do { _ = writer.take() }
        guard let file = reader.take() else { return [] }
        return try system("read a file of calls", "a nameless file") { () throws(SystemError) in
            var bytes: [UInt8] = []
            while bytes.count < Self.mostBytes {
                let part = try file.read(atMost: 1 << 16)
                if part.isEmpty { break }
                bytes += part
            }
            return bytes
        }
    }
}

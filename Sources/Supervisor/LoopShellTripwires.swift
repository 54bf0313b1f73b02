internal import Benchmarks
internal import ExamResults
internal import HostKernel
internal import IterationLoop
internal import Ledger
internal import LinuxKernel
internal import StrictJSON
internal import Workspace

// Where the wires are looked at: copies of the candidate, notes and manifests, train traces, what the
// coding agent says to its model, and outcomes.

extension LoopShell {
    /// Looks at a copy of the candidate.
    func watch(_ snapshot: CandidateSnapshot) {
        for file in snapshot.files {
            trip(tripwires.touched(by: file.text, in: "candidate"), snapshot.digest)
        }
    }

    /// Looks at what the coding agent wrote for the record.
    func watch(_ event: LedgerEvent) {
        switch event {
        case .learning:
            trip(tripwires.touched(by: event.body.prettyText(), in: "learning"), nil)
        case .intent(let record):
            let text = record.manifest.prettyText()
            trip(tripwires.touched(by: text, in: "manifest"), record.digest)
        default: break
        }
    }

    /// Looks at an exam that ended.
    ///
    /// - Returns: for a sealed exam, how much better the train tasks went that have twins in it.
    func watch(_ report: Benchmarks.ExamReport, of request: ExamRequest) -> TwinGap? {
        trip(tripwires.touched(by: report.results, of: request.split), request.digest)
        guard request.split == .train else {
            let gap = tripwires.gap(of: request.digest, sealed: report.results)
            trip(tripwires.touched(by: gap), request.digest)
            return gap
        }
        for trace in report.traces {
            let said = TraceWords.said(in: trace.messages).joined(separator: "\n")
            trip(tripwires.touched(by: said, in: "train trace"), request.digest)
            let calls = String(decoding: trace.calls, as: UTF8.self)
            trip(tripwires.touched(by: calls, in: "train model traffic"), request.digest)
        }
        if request.purpose == .sentinel { tripwires.sentinels = (request.digest, report.results) }
        return nil
    }

    private func trip(_ wires: [Tripwire], _ digest: CandidateDigest?) {
        for wire in wires {
            let name = "\(digest?.hex ?? "none") \(wire.words)"
            guard digest == nil || tripwires.told.insert(name).inserted else { continue }
            let record = TripwireRecord(
                wire,
                iteration: machine.workingIteration,
                digest: digest
            )
            post(.tripped(record))
            // What was accepted stays accepted: a person has to look.
            guard tripwires.settings.policy == .stop || isAccepted(digest) else { continue }
            departure = departure ?? Self.stopped(record, supervision.inputs.experiment.directory)
            post(.stop(reason: "a tripwire fired: \(record.words)"))
        }
    }

    private func isAccepted(_ digest: CandidateDigest?) -> Bool {
        guard let digest else { return false }
        return machine.state.accepted.contains { $0.candidate.digest == digest }
            || machine.state.open.map { open in
                open.intent.digest == digest && open.decision?.verdict == .accepted
            } ?? false
    }

    private static func stopped(_ record: TripwireRecord, _ place: String) -> SupervisorError {
        SupervisorError(
            .integrity,
            operation: "watch the tripwires",
            location: place,
            reason: record.words,
            remedy: "look at `invigilator report` and at the candidate; `invigilator run` goes on "
                + "without it"
        )
    }

    // MARK: - model traffic

    /// Looks at what the coding agent said to its model since the last time.
    func watchTraffic() throws(SupervisorError) { trip(try newTraffic(), nil) }

    /// Looks at the rest of it when the run is over, and the loop takes no more events.
    func watchLastTraffic() throws(SupervisorError) {
        for wire in try newTraffic() {
            let record = TripwireRecord(wire, iteration: machine.workingIteration, digest: nil)
            try supervision.append(.tripwire(record), at: moment.milliseconds)
            progress("tripwire: \(record.words)")
            guard tripwires.settings.policy == .stop else { continue }
            departure = departure ?? Self.stopped(record, supervision.inputs.experiment.directory)
        }
    }

    private func newTraffic() throws(SupervisorError) -> [Tripwire] {
        let path = supervision.layout.agentCalls(supervision.inputs.experiment.id)
        let new = try system("read the coding agent's calls", path) {
            () throws(SystemError) -> String in
            if traffic == nil { traffic = try Self.opened(path) }
            guard let traffic else { return "" }
            // A string may have been cut where the last look ended.
            var bytes = trafficTail
            while true {
                let part = try traffic.descriptor.read(atMost: 1 << 20)
                guard !part.isEmpty else { break }
                bytes += part
            }
            trafficTail = Array(bytes.suffix(WatchedStrings.longest))
            return String(decoding: bytes, as: UTF8.self)
        }
        // The bait is there to be read, and what was read is told the model: only its use is none.
        let wires = tripwires.touched(by: new, in: "model traffic").filter { $0.kind == .canary }
        guard !wires.isEmpty, tripwires.told.insert("model traffic").inserted else { return [] }
        return wires
    }

    /// Keeps what was told before this run, so that nothing of it voids another candidate.
    static func toldBefore(_ entries: [LedgerEntry]) -> Set<String> {
        let places = entries.filter { $0.kind == .tripwire }.map { $0.body["place"]?.stringValue }
        return places.contains("model traffic") ? ["model traffic"] : []
    }

    private static func opened(_ path: String) throws(SystemError) -> SharedDescriptor? {
        do throws(SystemError) { return SharedDescriptor(try Descriptor.open(path, .read)) } catch {
            guard error.isMissing else { throw error }
            return nil
        }
    }
}

extension LoopRules {
    /// Takes the train tasks in that watch for cheats.
    mutating func watch(_ tasks: WatchfulTasks, split entries: [LedgerEntry]) {
        let genesis = entries.first { $0.kind == .genesis }?.body["split"]?["train"]?.arrayValue
        let train = Set((genesis ?? []).compactMap(\.stringValue))
        let all = Array(tasks.impossible) + tasks.twins.map(\.task)
        sentinels = tasks.sentinels(among: all.filter { train.contains($0.text) })
        impossible = tasks.impossible
    }
}

internal import HostKernel
internal import Benchmarks
internal import ExamResults
internal import IterationLoop
internal import LinuxKernel
internal import StrictJSON
internal import Workspace

// What the two readers see: the operator in the experiment's directory, the coding agent in its tree.

extension ExperimentInputs {
    /// The audit of candidates, which knows every task.
    ///
    /// - Parameter train: the train tasks.
    /// - Returns: the audit.
    func audit(train: [TaskID]) -> StaticAudit {
        let isTrain = Set(train)
        let shown = [program, benchmark.template] + benchmark.candidate.map(\.bytes)
        let texts = shown.map { String(decoding: $0, as: UTF8.self) }
        return StaticAudit(
            matter: AuditMatter(
                train: benchmark.tasks.entries.filter { isTrain.contains($0.id) },
                sealed: benchmark.tasks.entries.filter { !isTrain.contains($0.id) },
                publicTexts: texts + agent.files.map(\.text)
            ),
            settings: config.audit,
            usual: agent.files.map(\.text)
        )
    }
}

extension Supervision {
    /// Renders the operator's `workspace`.
    func renderForOperator(_ content: WorkspaceContent) throws(SupervisorError) {
        guard var sink = try operatorSink() else { return }
        try workspace { () throws(WorkspaceError) in
            try WorkspaceView(of: content, for: .operator).render(into: &sink)
        }
    }

    /// Replaces a set of traces for the operator, and keeps it for the next run.
    func publishTraces(
        _ records: [TraceRecord],
        in set: WorkspaceView.TraceSet
    ) throws(SupervisorError) {
        var kept = try keptSink()
        try workspace { () throws(WorkspaceError) in
            try WorkspaceView.render(records, as: set, into: &kept)
        }
        guard var shown = try operatorSink() else { return }
        try workspace { () throws(WorkspaceError) in
            try WorkspaceView.render(records, as: set, into: &shown)
        }
    }

    /// Gives a new coding sandbox the traces of the runs before.
    func copyKeptTraces(to coding: CodingSandbox) throws(SupervisorError) {
        let sink = try coding.workspaceDirectory()
        let path = layout.view(inputs.experiment.id)
        try system("copy traces", path) { () throws(SystemError) in
            let kept = try Descriptor.open(path, [.read, .directory])
            guard let directory = sink.take() else { return }
            try kept.copyTree(into: directory)
        }
    }

    private func keptSink() throws(SupervisorError) -> DirectorySink {
        let path = layout.view(inputs.experiment.id)
        return try system("open the kept traces", path) { () throws(SystemError) in
            DirectorySink(adopting: try Descriptor.open(path, [.read, .directory]))
        }
    }

    private func operatorSink() throws(SupervisorError) -> DirectorySink? {
        try system("open the operator's workspace", inputs.experiment.directory) {
            () throws(SystemError) in
            try inputs.workspaceDirectory.withDescriptor { directory throws(SystemError) in
                DirectorySink(adopting: try directory.duplicate())
            }
        }
    }
}

extension Descriptor {
    /// Copies regular files and directories beneath this directory into another.
    borrowing func copyTree(into target: borrowing Descriptor) throws(SystemError) {
        for name in try entries() {
            switch try FileStatus(of: name, in: self).kind {
            case .regular:
                let bytes = try contents(of: name, limit: 16 << 20)
                try target.replace(name, with: bytes)
            case .directory:
                do throws(SystemError) { try target.makeDirectory(name) } catch {
                    guard error.isAlreadyThere else { throw error }
                }
                let inner = try target.openBeneath(name, [.read, .directory])
                try inner.setPermissions(0o755)
                try openBeneath(name, [.read, .directory]).copyTree(into: inner)
            case .symbolicLink, .other: break
            }
        }
    }
}

extension Supervision {
    /// Writes a file into the operator's `workspace`.
    public func writeForOperator(_ name: String, _ bytes: [UInt8]) throws(SupervisorError) {
        _ = try system("write a file for the operator", name) { () throws(SystemError) in
            try inputs.workspaceDirectory.withDescriptor { directory throws(SystemError) in
                try directory.replace(name, with: bytes)
            }
        }
    }
}

internal import HostKernel
internal import LauncherClient
internal import LinuxKernel
internal import SandboxPolicy
internal import Workspace

// The files that the coding agent owns: copied out of its tree, and put back into it.

extension CodingSandbox {
    /// Where a file of a candidate lies in the tree.
    static func beneath(_ file: CandidateFile) -> String {
        String(file.path.dropFirst("agent/".count))
    }

    /// Copies the judged files out, refusing everything that is not a plain file.
    func snapshot() throws(WorkspaceError) -> CandidateSnapshot {
        try CandidateSnapshot(
            reading: supervision.inputs.plans.surface,
            beneath: surface.directory
        )
    }

    /// Puts a candidate back in place, unless it lies there already.
    ///
    /// The directory is the agent's: it may be full, or hold whatever is in the way. That is its
    /// affair, never the run's end.
    ///
    /// - Returns: whether anything was changed.
    /// - Throws: ``SystemError``; a file is replaced or stays, but some may be replaced already.
    func restore(_ candidate: CandidateSnapshot) throws(SystemError) -> Bool {
        if holds(candidate) { return false }
        switch supervision.inputs.plans.surface.save {
        case .replace: for file in candidate.files { try replace(file) }
        case .inPlace: try overwrite(candidate.files)
        }
        let kept = Set(candidate.files.map(Self.beneath))
        for path in try others(than: kept) { try surface.directory.takeAway(path) }
        return true
    }

    private func holds(_ candidate: CandidateSnapshot) -> Bool {
        do throws(WorkspaceError) { return try snapshot() == candidate } catch {
            return false  // no plain files, whatever they are
        }
    }

    private func replace(_ file: CandidateFile) throws(SystemError) {
        let parts = Self.beneath(file).split(separator: "/").map(String.init)
        let (folder, name) = (parts.dropLast().joined(separator: "/"), parts[parts.count - 1])
        do throws(SystemError) {
            let opened = try surface.directory.openBeneath(
                folder.isEmpty ? "." : folder,
                [.read, .directory]
            )
            if try FileStatus(of: name, in: opened).kind == .directory {
                try opened.rename(name, to: ".replaced")
            }
        } catch {
            guard error.isMissing else { throw error }
        }
        try surface.directory.place(file.bytes, at: Self.beneath(file))
    }

    // The files that the sandbox shows are these: new ones of their names would not be seen there.
    // All are found writable before the first is emptied, and all empty before the first is written:
    // none is lost for another that is in the way, nor for the room that another takes.
    private func overwrite(_ files: [CandidateFile]) throws(SystemError) {
        for mode: Descriptor.Mode in [.write, [.write, .truncate]] {
            for file in files { _ = try open(file, mode) }
        }
        for file in files { try open(file, .write).writeAll(file.bytes) }
    }

    private func open(
        _ file: CandidateFile,
        _ mode: Descriptor.Mode
    ) throws(SystemError) -> Descriptor {
        try surface.directory.openBeneath(Self.beneath(file), mode.union(.nonBlocking))
    }

    // What matches the surface and is not of the candidate.
    private func others(than kept: Set<String>) throws(SystemError) -> [String] {
        do throws(WorkspaceError) {
            let surface = supervision.inputs.plans.surface
            return try CandidateSnapshot.paths(of: surface, beneath: self.surface.directory)
                .subtracting(kept).sorted()
        } catch {
            throw SystemError("openat2", "\(error)", number: Self.notADirectory)
        }
    }

    // ENOTDIR: something else is where a directory of the surface should be.
    private static let notADirectory: Int32 = 20
}

internal import LauncherClient
internal import LinuxKernel
internal import SandboxPlan

/// The root directory of one role in one exam: the system image and the files of a program.
enum ExamTree {
    private static let filePermissions: UInt32 = 0o644

    /// Makes and fills a tree; it is read-only for every sandbox that gets it.
    ///
    /// - Parameters:
    ///   - site: where the image comes from and how large the tree may be.
    ///   - home: the directory, which the image holds, that the files go to.
    ///   - files: the files.
    ///   - packages: what is laid over the image, for which the tree gets larger.
    ///   - made: is given the tree before it is filled, so that a failure cannot lose it.
    /// - Throws: ``ExamBreak``.
    static func make(
        _ site: ExamSite,
        home: String,
        files: [ExamFile],
        packages: AddedFiles?,
        made: (SandboxTree) -> Void
    ) throws(ExamBreak) {
        let tree: SandboxTree
        do throws(LauncherError) {
            tree = try site.launcher.makeTree(
                size: ByteCount(bytes: site.treeSize.bytes + (packages?.room.size.bytes ?? 0)),
                inodes: site.treeInodes + (packages?.room.inodes ?? 0)
            )
        } catch {
            throw ExamBreak(error)
        }
        made(tree)
        do throws(SystemError) {
            try site.fillImage(tree.directory)
            if let packages { try packages.copy(tree.directory) }
            let directory = try tree.directory.openBeneath(home, [.directory])
            for file in files { try write(file, beneath: directory) }
        } catch {
            throw ExamBreak(error, during: "fill the tree of /\(home)")
        }
    }

    private static func write(
        _ file: ExamFile,
        beneath home: borrowing Descriptor
    ) throws(SystemError) {
        let names = file.path.split(separator: "/", omittingEmptySubsequences: false)
        var directory = try home.openBeneath(".", [.directory])
        for name in names.dropLast() {
            do throws(SystemError) {
                try directory.makeDirectory(String(name))
            } catch  where error.isAlreadyThere {}
            directory = try directory.openBeneath(String(name), [.directory])
        }
        let opened = try directory.openBeneath(
            String(names[names.count - 1]),
            [.write, .createNew],
            permissions: filePermissions
        )
        try opened.writeAll(file.bytes)
        try opened.setPermissions(filePermissions)
    }
}

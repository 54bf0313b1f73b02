internal import HostKernel
internal import LinuxKernel

extension UserFolder {
    /// The most of one file that is read where nothing smaller is said.
    static let largestFile = 64 << 20

    /// Reads a regular file of the folder.
    ///
    /// - Parameters:
    ///   - name: its path beneath the folder.
    ///   - operation: what is being done, for errors.
    ///   - limit: the most bytes.
    ///   - key: the key of the configuration that names it, if one does.
    /// - Returns: its bytes.
    /// - Throws: ``SupervisorError``.
    func read(
        _ name: String,
        _ operation: String = "read a file",
        limit: Int = largestFile,
        namedBy key: String? = nil
    ) throws(SupervisorError) -> [UInt8] {
        do throws(SystemError) { return try contents(of: name, limit: limit) } catch {
            throw refusal(of: name, operation, error, limit: limit, namedBy: key)
        }
    }

    /// What is said of a file that could not be read.
    func refusal(
        of name: String,
        _ operation: String,
        _ error: SystemError,
        limit: Int = largestFile,
        namedBy key: String? = nil
    ) -> SupervisorError {
        guard let (reason, remedy) = explanation(of: error, limit: limit) else {
            return SupervisorError(error, operation, "\(path)/\(name)")
        }
        return SupervisorError(
            .usage,
            operation: operation,
            location: "\(path)/\(name)",
            reason: reason,
            remedy: key.map {
                // Another directory is not what the key asks for.
                (error.isMissing ? "write it" : remedy) + ", or remove the key \($0)"
            } ?? remedy
        )
    }

    /// Why a file is not read and what to do; nil for a failure of the host.
    func explanation(
        of error: SystemError,
        limit: Int
    ) -> (reason: String, remedy: String)? {
        if error.isMissing {
            return ("it does not exist", "write it, or name a directory that holds it")
        }
        if error.isSymbolicLink {
            return ("a part of the path is a symbolic link", "copy what it leads to there")
        }
        if error.isOutside {
            return ("it lies on another mount than its directory", "copy it there")
        }
        if error.isNoFile { return ("it is no regular file", "write a plain file there") }
        if error.isTooLarge { return ("it has more than \(limit) bytes", "make it shorter") }
        guard error.isRefused else { return nil }
        return (
            "\(reader) may not read it",
            "give it to that user, or let that user read it: nothing is read here with root's rights"
        )
    }

    private var reader: String {
        do throws(SystemError) { return "uid \(try rights().user), whose directory this is," } catch
        {
            return "the owner of the directory"
        }
    }
}

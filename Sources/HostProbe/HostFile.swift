internal import HostKernel
internal import LinuxKernel

/// Reading of the host's own files: programs, libraries, the standard library.
enum HostFile {
    /// The largest file taken into an image; a statically linked interpreter has about 30 MB.
    static let maximumBytes = 256 << 20

    /// The path without symbolic links; nil when something on it is missing or circular.
    static func resolved(_ path: String) -> String? {
        var pending = Array(path.split(separator: "/").map(String.init).reversed())
        var done: [String] = []
        var links = 0
        while let component = pending.popLast() {
            if component == "." { continue }
            if component == ".." {
                _ = done.popLast()
                continue
            }
            let parent = "/" + done.joined(separator: "/")
            guard let found = look(at: component, in: parent) else { return nil }
            guard case .link(let target) = found else {
                done.append(component)
                continue
            }
            links += 1
            // The kernel's own limit (path_resolution(7)).
            guard links <= 40 else { return nil }
            if target.hasPrefix("/") { done = [] }
            pending += target.split(separator: "/").map(String.init).reversed()
        }
        return "/" + done.joined(separator: "/")
    }

    private enum Component {
        case link(String)
        case other
    }

    private static func look(at name: String, in parent: String) -> Component? {
        do throws(SystemError) {
            let directory = try Descriptor.open(parent, [.path, .directory])
            guard try FileStatus(of: name, in: directory).kind == .symbolicLink else {
                return .other
            }
            return .link(try directory.linkText(name))
        } catch {
            // What cannot be looked at is as good as missing to a search.
            return nil
        }
    }

    /// What a path is, links followed; nil when there is nothing that can be looked at.
    static func status(_ path: String) -> FileStatus? {
        guard let real = resolved(path) else { return nil }
        do throws(SystemError) {
            return try FileStatus(path: real)
        } catch {
            return nil
        }
    }

    /// Whether there is a regular file, links followed.
    static func isRegular(_ path: String) -> Bool {
        status(path)?.kind == .regular
    }

    /// The names in a directory, sorted; none when it cannot be read.
    static func names(in directory: String) -> [String] {
        do throws(SystemError) {
            return try Descriptor.open(directory, [.read, .directory]).entries().sorted()
        } catch {
            return []
        }
    }

    /// The whole contents of a regular file, links followed.
    static func contents(
        _ path: String,
        atMost limit: Int = maximumBytes,
        operation: String
    ) throws(HostProbeError) -> [UInt8] {
        guard let real = resolved(path) else {
            throw HostProbeError(
                operation: operation,
                location: path,
                reason: "it does not exist",
                remedy: "install it again, or name another interpreter"
            )
        }
        do throws(SystemError) {
            return try Descriptor.open(real, .read).readAll(limit: limit)
        } catch {
            throw HostProbeError(
                operation: operation,
                location: path,
                reason: error.description,
                remedy: "make it readable for the program that builds the image"
            )
        }
    }

    /// The first bytes of a regular file; empty when it cannot be read.
    static func start(of path: String, count: Int) -> [UInt8] {
        guard let real = resolved(path), isRegular(real) else { return [] }
        do throws(SystemError) {
            return try Descriptor.open(real, .read).read(atMost: count)
        } catch {
            return []
        }
    }
}

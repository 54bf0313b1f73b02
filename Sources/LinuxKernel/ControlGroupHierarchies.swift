/// Which control-group versions the host mounts, and where.
public struct ControlGroupHierarchies: Sendable, Equatable {
    /// How limits, freezing and killing are divided among the mounted versions.
    public enum Mode: String, Sendable, Equatable {
        /// Everything through version 2 (cgroups(7), "Cgroups version 2").
        case v2
        /// Everything through version 1 controllers.
        case v1
        /// Limits through version 1, freezing and killing through an empty version 2.
        case hybrid
    }

    /// The division in force.
    public let mode: Mode
    /// Directory of version 2; nil in mode v1.
    public let unified: String?
    /// Version 1 directories by controller; empty in mode v2.
    public let controllers: [Controller: String]

    /// The version 1 controllers that limits need.
    public enum Controller: String, Sendable, Hashable, CaseIterable {
        /// Memory and swap.
        case memory
        /// Processes and threads.
        case pids
        /// CPU bandwidth.
        case cpu
        /// CPU time used.
        case cpuacct
        /// Freezing, where version 2 is absent.
        case freezer
    }

    /// Adopts known directories, as tests with a tree of plain files do.
    public init(mode: Mode, unified: String?, controllers: [Controller: String]) {
        self.mode = mode
        self.unified = unified
        self.controllers = controllers
    }

    /// The directory of every hierarchy in use.
    var places: [String] {
        controllers.values.sorted() + (unified.map { [$0] } ?? [])
    }

    /// Reads the mounts of this process.
    ///
    /// - Throws: ``SystemError``; ENOENT naming the controller that no mounted version offers.
    public static func detect() throws(SystemError) -> ControlGroupHierarchies {
        let mounts = try Descriptor.open("/proc/self/mountinfo", .read).readAll(limit: 1 << 22)
        let found = ControlGroupMounts(mountInfo: mounts)
        var (mode, needed): (Mode, [Controller]) = (.v1, Controller.allCases)
        if let unified = found.unified {
            let offered = try Descriptor.open("\(unified)/cgroup.controllers", .read)
                .readAll(limit: 4096).split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\n") }
            (mode, needed) = (.hybrid, [.memory, .pids, .cpu])
            let isWhole = needed.allSatisfy { controller in
                offered.contains { $0.elementsEqual(controller.rawValue.utf8) }
            }
            if isWhole { (mode, needed) = (.v2, []) }
        }
        for controller in needed where found.controllers[controller] == nil {
            throw SystemError("cgroup", "controller \(controller.rawValue)", number: 2)  // ENOENT
        }
        return ControlGroupHierarchies(
            mode: mode,
            unified: found.unified,
            controllers: found.controllers.filter { needed.contains($0.key) }
        )
    }
}

/// The control-group mounts named by the text of `/proc/self/mountinfo` (proc(5)).
package struct ControlGroupMounts: Equatable {
    package var unified: String?
    package var controllers: [ControlGroupHierarchies.Controller: String] = [:]

    /// Reads the text as bytes: a launch pays for this, and most lines are of other mounts.
    package init(mountInfo: [UInt8]) {
        for line in mountInfo.split(separator: UInt8(ascii: "\n")) {
            let fields = line.split(separator: UInt8(ascii: " "))
            // Any number of optional fields stands between the sixth and the separator.
            guard let dash = fields.firstIndex(where: { $0.elementsEqual("-".utf8) }), dash >= 6,
                fields.count > dash + 3, fields[3].elementsEqual("/".utf8)
            else { continue }
            let place = String(decoding: fields[4], as: UTF8.self)
            if fields[dash + 1].elementsEqual("cgroup2".utf8) { unified = unified ?? place }
            guard fields[dash + 1].elementsEqual("cgroup".utf8) else { continue }
            for option in fields[dash + 3].split(separator: UInt8(ascii: ",")) {
                let name = String(decoding: option, as: UTF8.self)
                guard let controller = ControlGroupHierarchies.Controller(rawValue: name)
                else { continue }
                controllers[controller] = controllers[controller] ?? place
            }
        }
    }
}

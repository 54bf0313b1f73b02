internal import CSeccomp
internal import SandboxPlan

/// A libseccomp filter under construction; released when it goes out of scope.
// Safety: the only unsafe storage is the library's context, which this value alone owns and never
// lets out.
@safe struct SeccompContext: ~Copyable {
    private let context: scmp_filter_ctx
    /// `EPERM`, what a call gets that no rule allows.
    static let refusal = cseccomp_action_errno(1)
    /// `ENOSYS`, what calls get whose callers have an older way.
    static let absence = cseccomp_action_errno(38)

    /// Makes an empty filter for x86_64 alone.
    ///
    /// libseccomp adds the native architecture only, so i386 (`int 0x80`) and x32 numbers meet the
    /// action for a bad architecture; seccomp_init(3), seccomp_attr_set(3).
    static func empty() throws(SeccompError) -> SeccompContext {
        guard seccomp_arch_native() == cseccomp_architecture_x86_64() else {
            throw .unsupportedArchitecture
        }
        let made = try SeccompContext()
        try made.set(SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS, "kill on a bad architecture")
        // 2 is a binary tree over call numbers: 335 instructions instead of 268, but a look-up in
        // 8 steps; a seldom used call would else pay for the whole list.
        try made.set(SCMP_FLTATR_CTL_OPTIMIZE, 2, "choose the binary tree")
        return made
    }

    private init() throws(SeccompError) {
        // Safety: seccomp_init has no precondition; its result is checked for null before use.
        guard let made = unsafe seccomp_init(Self.refusal) else {
            throw .library(step: "make a filter", code: 12)
        }
        unsafe context = unsafe made
    }

    deinit {
        // Safety: the context came from seccomp_init and is released once, by its only owner.
        unsafe seccomp_release(context)
    }

    /// What a call gets that a rule allows.
    static let allowance = UInt32(SCMP_ACT_ALLOW)
    /// What a call gets whose refusal is told: it waits until the listener has refused it.
    static let notification = UInt32(SCMP_ACT_NOTIFY)

    /// Adds a rule for a call under its conditions.
    func answer(
        _ action: UInt32,
        _ number: UInt32,
        when conditions: [ArgumentCondition] = []
    ) throws(SeccompError) {
        let comparisons = conditions.map {
            cseccomp_masked_equal(UInt32($0.argument), UInt64($0.mask), UInt64($0.value))
        }
        // Safety: the context is alive, and the array's storage holds as many comparisons as are
        // announced for as long as the call lasts; libseccomp copies them.
        let result = unsafe seccomp_rule_add_array(
            context,
            action,
            Int32(number),
            UInt32(comparisons.count),
            comparisons
        )
        guard result == 0 else { throw .library(step: "add call \(number)", code: -result) }
    }

    /// Compiles the filter and returns the instructions' bytes.
    func exported() throws(SeccompError) -> [UInt8] {
        // Safety: the name is a literal that lives for the call.
        let file = unsafe cseccomp_memory_file("filter")
        guard file >= 0 else { throw .library(step: "make a memory file", code: -file) }
        defer { cseccomp_close(file) }
        // Safety: the context is alive: this value still owns it.
        let result = unsafe seccomp_export_bpf(context, file)
        guard result == 0 else { throw .library(step: "export", code: -result) }
        return try Self.contents(of: file)
    }

    private func set(
        _ attribute: scmp_filter_attr,
        _ value: UInt32,
        _ step: String
    ) throws(SeccompError) {
        // Safety: the context is alive: this value owns it.
        let result = unsafe seccomp_attr_set(context, attribute, value)
        guard result == 0 else { throw .library(step: step, code: -result) }
    }

    private static func contents(of file: Int32) throws(SeccompError) -> [UInt8] {
        // Room for one instruction more than the kernel takes, so that a longer program shows.
        var bytes = [UInt8](repeating: 0, count: 4097 * 8)
        // Safety: the buffer is `bytes`' own storage and its count is what is announced.
        let count = unsafe bytes.withUnsafeMutableBytes { buffer in
            unsafe cseccomp_read_at(file, buffer.baseAddress, buffer.count, 0)
        }
        guard count >= 0 else { throw .library(step: "read back", code: Int32(-count)) }
        return Array(bytes.prefix(count))
    }
}

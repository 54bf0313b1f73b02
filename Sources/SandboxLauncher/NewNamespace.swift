internal import LinuxKernel

/// Namespaces that exist before the sandbox that uses them, or without one.
enum NewNamespace {
    /// Makes namespaces with a child that lives only for that, and keeps one of them open.
    ///
    /// - Parameters:
    ///   - kinds: what is made; what is not kept goes with the child.
    ///   - name: the kept one, as `/proc/PID/ns` names it.
    ///   - fromOutside: what is done to the child while it waits.
    ///   - inside: what the child does before it ends.
    /// - Returns: the kept namespace.
    /// - Throws: ``SystemError``; EIO when the child failed at what it had to do.
    static func make(
        _ kinds: NamespaceKinds,
        opening name: String,
        fromOutside: (Int32) throws(SystemError) -> Void = { _ in },
        inside: () throws(SystemError) -> Void = {}
    ) throws(SystemError) -> Held {
        let gate = try SharedPair.pipe()
        switch try ChildProcess.clone(kinds) {
        case .child:
            do throws(SystemError) {
                try CurrentProcess.dieWithParent()
                _ = try gate.first.descriptor.read(atMost: 1)
                try inside()
                CurrentProcess.exitNow(0)
            } catch {
                CurrentProcess.exitNow(1)
            }
        case .parent(let child):
            let outcome = Result { () throws(SystemError) in
                try fromOutside(child.pid)
                let kept = Held(try Descriptor.openNamespace(name, of: child.pid))
                try gate.second.descriptor.writeAll([1])
                return kept
            }
            if case .failure = outcome { try child.kill() }
            guard try child.wait().exitCode == 0 else {
                _ = try outcome.get()
                throw SystemError("clone3", "a \(name) namespace made ahead", number: 5)  // EIO
            }
            return try outcome.get()
        }
    }
}

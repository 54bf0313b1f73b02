internal import SandboxPlan
internal import StrictYAML

/// What a node of a policy says in this domain's types.
extension YAMLNode {
    /// An absolute and normalised path inside.
    func path() -> InsidePath? {
        guard let text = text() else { return nil }
        do throws(PlanError) {
            return try InsidePath(text)
        } catch {
            refuse(error.reason, remedy: error.remedy)
            return nil
        }
    }

    /// The name of a policy or group: 1 to 64 bytes of `[a-z0-9-]`.
    func name() -> String? {
        guard let name = text() else { return nil }
        let isPlain = name.utf8.allSatisfy { byte in
            (97...122).contains(byte) || (48...57).contains(byte) || byte == 45
        }
        guard isPlain, name.utf8.count <= 64 else {
            refuse(.noName(name.debugDescription))
            return nil
        }
        return name
    }

    /// A size above 0.
    func size() -> ByteCount? { bytes().map(ByteCount.init(bytes:)) }

    /// A time above 0.
    func time() -> Milliseconds? { milliseconds().map(Milliseconds.init) }
}

public import LinuxKernel

extension Optional where Wrapped == Descriptor {
    /// A place that holds a descriptor until somebody takes it.
    public final class Box {
        private var held: Descriptor?

        /// Puts a descriptor in.
        public init(_ descriptor: consuming Descriptor) {
            held = consume descriptor
        }

        /// Looks at the descriptor while it is in; nil once it was taken.
        public func withDescriptor<Answer: ~Copyable>(
            _ body: (borrowing Descriptor) throws(SystemError) -> Answer
        ) throws(SystemError) -> Answer? {
            switch held {
            case .some(let descriptor): return try body(descriptor)
            case .none: return nil
            }
        }

        /// Takes the descriptor out, once.
        public func take() -> Descriptor? {
            held.take()
        }
    }
}

extension ReceivedMessage {
    /// Hands over the next descriptor in a box; nil when none is left.
    public mutating func takeHeld() -> Descriptor?.Box? {
        guard descriptorCount > 0 else { return nil }
        switch takeDescriptor() {
        case .some(let descriptor): return Descriptor?.Box(descriptor)
        case .none: return nil
        }
    }
}

/// Why the bytes of a connection are no request that this front serves.
///
/// Every fault ends the connection after its answer, because where the next request would begin is
/// no longer certain.
package struct HTTPFault: Error, Sendable, Equatable, CustomStringConvertible {
    /// The status of the answer, 400 to 505.
    package let status: Int
    /// Which part of the request it was.
    package let location: String
    /// What was wrong with it; printable, and never text of the request.
    package let reason: String

    /// Makes a fault.
    package init(_ status: Int, _ location: String, _ reason: String) {
        self.status = status
        self.location = location
        self.reason = reason
    }

    /// Location and reason on one line.
    package var description: String { "\(location): \(reason)" }
}

/// What one request may cost before it is refused.
package struct HTTPLimits: Sendable, Equatable {
    /// The largest head, from the method to the empty line, in bytes.
    package let headBytes: Int
    /// The most header fields.
    package let headerCount: Int
    /// The longest target, in bytes.
    package let targetBytes: Int
    /// The largest body after chunks are joined, in bytes.
    package let bodyBytes: Int

    /// Makes limits.
    package init(
        headBytes: Int = 64 << 10,
        headerCount: Int = 100,
        targetBytes: Int = 2048,
        bodyBytes: Int = 16 << 20
    ) {
        self.headBytes = headBytes
        self.headerCount = headerCount
        self.targetBytes = targetBytes
        self.bodyBytes = bodyBytes
    }
}

/// One request, whole.
package struct HTTPRequest: Sendable, Equatable {
    /// The method, upper-case letters.
    package let method: String
    /// The target in origin form: it begins with a slash and is visible ASCII.
    package let target: String
    /// The header fields in their order, names in lower case, values without white space around.
    package let headers: [HTTPField]
    /// Whether the connection ends after the answer.
    package let isLast: Bool
    /// The body, empty where there is none.
    package var body: [UInt8]

    /// The value of a field that may stand once; nil where it stands not at all.
    package func value(of name: String) -> String? {
        headers.first { $0.name == name }?.value
    }
}

/// One header field.
package struct HTTPField: Sendable, Equatable {
    /// The name in lower case.
    package let name: String
    /// The value without white space around it.
    package let value: String

    /// Makes a field.
    package init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

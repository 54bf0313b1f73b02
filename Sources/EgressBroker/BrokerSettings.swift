package import HTTPFront
package import NIOCore

/// The limits of every connection, in one place; a test makes them short.
package struct BrokerSettings: Sendable {
    /// What one request may cost.
    package var http = HTTPLimits()
    /// The most connections to one listener; more are answered 503 and closed.
    package var connections = 128
    /// The most bytes of bodies that one listener's requests have in memory at a time.
    package var listenerBodies = 32 << 20
    /// The same for all listeners of one role.
    package var roleBodies = 96 << 20
    /// How long a connection may be without a request.
    package var idle = TimeAmount.minutes(10)
    /// From the first byte of a request to the end of its head.
    package var head = TimeAmount.seconds(15)
    /// From the end of the head to the end of the body.
    package var body = TimeAmount.seconds(120)
    /// How long the sandbox may take no byte of an answer.
    package var stalled = TimeAmount.seconds(120)
    /// How long a provider may take to accept a connection, TLS included.
    package var connect = TimeAmount.seconds(10)
    /// How long a connection to a provider waits for its next request: less than any provider's time, so
    /// that no request meets a connection that just ended.
    package var spare = TimeAmount.seconds(20)
    /// How long a provider may be silent; models think before the first token.
    package var silent = TimeAmount.minutes(10)
    /// From the request to the last byte of the answer.
    package var call = TimeAmount.minutes(30)
    /// The largest answer that is not a stream, in bytes.
    package var answerBytes = 16 << 20
    /// The largest event of a stream, in bytes.
    package var eventBytes = 4 << 20
    /// What one file for bodies may hold, in bytes.
    package var traceBytes = 1 << 30
    /// The longest body that is read on the event loop itself; longer ones would hold streams up.
    package var inlineBytes = 64 << 10

    /// The settings of a real run.
    package init() {}
}

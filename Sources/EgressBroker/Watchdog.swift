internal import NIOCore

/// Ends a connection that lets us wait too long.
struct Watchdog {
    private let channel: any Channel
    private var timer: Scheduled<Void>?

    init(_ channel: any Channel) {
        self.channel = channel
    }

    /// Closes the connection after a time, unless it is stopped or set anew before.
    ///
    /// - Parameters:
    ///   - span: how long to wait.
    ///   - words: what the other end is told before; nothing where no answer is due.
    mutating func set(_ span: TimeAmount, saying words: ByteBuffer? = nil) {
        timer?.cancel()
        timer = channel.eventLoop.scheduleTask(in: span) { [channel] in
            if let words { channel.writeAndFlush(words, promise: nil) }
            channel.close(promise: nil)
        }
    }

    /// Lets the connection live.
    mutating func stop() {
        timer?.cancel()
        timer = nil
    }
}

internal import CLinux

/// The calendar clock (CLOCK_REALTIME).
public enum WallClock {
    /// Milliseconds since the epoch.
    public static var milliseconds: Int64 { clx_clock_nanoseconds(CLOCK_REALTIME) / 1_000_000 }
}

internal import CLinux

/// The variables of this process.
///
/// Only names that a configuration gives are looked up, and those that say whether a terminal wants colours;
/// no variable of ours changes what is done.
public enum ProcessEnvironment {
    /// The value of a variable (getenv(3)).
    ///
    /// - Parameter name: its name.
    /// - Returns: the value; absent where it is not set or no UTF-8.
    public static func value(of name: String) -> String? {
        // Safety: getenv returns null or a string that lives as long as the environment, which nothing
        // here changes.
        guard let text = unsafe clx_environment(name) else { return nil }
        return unsafe String(validatingCString: text)
    }
}

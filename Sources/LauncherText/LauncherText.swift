// LauncherText: what the launcher says of itself. Text alone, which decides nothing.

/// Words of the launcher's command line.
public enum LauncherText {
    /// What `--help` prints, and a wrong command line.
    public static let usage = """
        invigilator-launcher: builds one sandbox from one compiled plan, as root or, with less, anybody.

        usage: invigilator-launcher run PLAN [--tree DIR]... [--protect DIR]... [-- COMMAND [ARGUMENT]...]
               invigilator-launcher serve --channel 3 --supervisor UID [--protect DIR]... [--vault DIR]
               invigilator-launcher sweep
               invigilator-launcher --help | --version

        run     runs a command under a plan made by `invigilator policy compile`
        serve   serves a supervisor over the socket on descriptor 3 (used by `invigilator`)
        sweep   removes control groups that a killed launcher left behind

        exit codes: the command's own; 128 + n when signal n ended it; 137 when a limit did;
                    2 for a wrong command line; 3 when the sandbox could not be made
        """
}

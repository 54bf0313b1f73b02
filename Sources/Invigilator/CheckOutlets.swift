internal import ArgumentParser
internal import CheckReports
internal import HostKernel
internal import LinuxKernel
internal import Supervisor

/// Where a command tells continuous integration what it found.
struct CheckOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Write a JUnit report to this file.", valueName: "file"),
        completion: .file()
    )
    var junit: String?

    @Option(
        help: ArgumentHelp(
            "Append a summary in Markdown to this file, such as $GITHUB_STEP_SUMMARY.",
            valueName: "file"
        ),
        completion: .file()
    )
    var summary: String?

    @Flag(help: "Print annotations of a workflow (::notice, ::error) to standard error.")
    var annotations = false

    /// Opens the files, while we have the rights of whoever runs us.
    func opened() -> CheckOutlets {
        CheckOutlets(
            junit: junit.flatMap { CheckOutlets.File($0, appends: false) },
            summary: summary.flatMap { CheckOutlets.File($0, appends: true) },
            annotates: annotations
        )
    }
}

/// Files and standard error, as what continuous integration reads.
///
/// Nothing here throws: that a report cannot be written is said, and changes neither a verdict nor an
/// exit code.
struct CheckOutlets {
    fileprivate let junit: File?
    fileprivate let summary: File?
    fileprivate let annotates: Bool

    /// A file that was opened in the root phase.
    fileprivate struct File {
        let path: String
        let opened: Descriptor?.Box

        init?(_ path: String, appends: Bool) {
            self.path = path
            do throws(SupervisorError) {
                opened = try OutputFile.opened(path, appending: appends)
            } catch {
                CheckOutlets.complain(error)
                return nil
            }
        }

        func write(_ text: String) {
            do throws(SupervisorError) {
                _ = try kernel("write a report", path) { () throws(SystemError) in
                    try opened.withDescriptor { file throws(SystemError) in
                        try file.writeAll(Array(text.utf8))
                    }
                }
            } catch {
                CheckOutlets.complain(error)
            }
        }
    }

    /// Tells what was found.
    func tell(_ report: CheckReport) {
        junit?.write(report.junit)
        summary?.write(report.summary)
        guard annotates else { return }
        for line in report.annotations { StandardError.print(line) }
    }

    /// Tells what a command found, or that it failed.
    ///
    /// - Parameters:
    ///   - title: the command.
    ///   - body: what it does.
    ///   - report: its answer as a report.
    /// - Returns: the answer.
    /// - Throws: what `body` threw.
    func telling<Answer>(
        _ title: String,
        _ body: () throws(SupervisorError) -> Answer,
        as report: (Answer) -> CheckReport
    ) throws(SupervisorError) -> Answer {
        do throws(SupervisorError) {
            let answer = try body()
            tell(report(answer))
            return answer
        } catch {
            tell(
                CheckReport(
                    title,
                    verdict: "not decided: \(error)",
                    isGood: false,
                    [.init(title, [Check(title, in: title, .broken("\(error)"))])]
                )
            )
            throw error
        }
    }

    private static func complain(_ error: SupervisorError) {
        StandardError.print("invigilator: \(error); the verdict and the exit code stay as they are")
    }
}

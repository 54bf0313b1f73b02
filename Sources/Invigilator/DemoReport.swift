internal import HostKernel
internal import Ledger
internal import LinuxKernel
internal import Report
internal import Supervisor
internal import Workspace

/// Writes the report of a run that has just ended into the operator's workspace.
struct DemoReport {
    private let supervision: Supervision

    init(_ supervision: Supervision) {
        self.supervision = supervision
    }

    func write() throws {
        let ledger = supervision.ledger
        let id = supervision.inputs.experiment.id
        let repository = CandidateRepository(at: supervision.layout.repository(id))
        let page = ReportPage.render(
            entries: try ledger.entries(),
            verification: try ledger.verify(),
            candidateTexts: { ReportCommand.texts(of: $0, in: repository) }
        )
        try supervision.writeForOperator("report.html", Array(page.utf8))
    }
}

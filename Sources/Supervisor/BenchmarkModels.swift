internal import Workspace

extension BenchmarkFiles.Reading {
    /// Refuses a configuration without the models that the examiner needs, before anything of the
    /// benchmark is installed: its exams would be void.
    func requireModels(of config: ExperimentConfig) throws(SupervisorError) {
        let manifest = try manifest()
        try workspace { () throws(WorkspaceError) in
            try manifest.requireModels(of: config, file: "experiment_config.yaml")
        }
    }
}

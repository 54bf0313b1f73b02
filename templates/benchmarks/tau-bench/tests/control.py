"""Runs agents as auto-harness does, in tau2's own loop and in the process that judges them: the control of
attacks that this benchmark's two sandboxes are to stop.

Usage: control.py PACKAGES TASKS ENDPOINT SCRATCH AGENT...    (a Python that the packages were installed for)

TASKS is a file as an examiner finds it. Each agent's file is run by `tau2.run.run_tasks` in a process
forked for it, all tasks one after the other, results saved below SCRATCH as tau2 does. That process ends
as a gate does: with 0 where the mean is 1. Prints one JSON object: by the name of an agent's file `status`,
`score`, by task `rewards`, what the agent `said` last and how often the `customer` spoke, what it `printed`,
and which tasks' gold is `left` in the file of results.

In place of tau2's own are litellm, its registry and its tables for a terminal; all else is tau2's.
"""

import importlib
import json
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any, Dict, List

PACKAGES, TASKS, ENDPOINT, SCRATCH = (sys.argv + [""] * 4)[1:5]
sys.path[:0] = [str(Path(__file__).resolve().parent.parent), PACKAGES]

from model_client import ModelClient  # noqa: E402
from tau2_port import Port  # noqa: E402


class Console:
    """Stands for `tau2.utils.display.ConsoleDisplay`: draws nothing."""

    console: Any = None

    @staticmethod
    def print(*_: Any) -> None:
        """Stands for the console's own."""

    @staticmethod
    def display_simulation(*_: Any, **__: Any) -> None:
        """Stands for the panel of one simulation."""


Console.console = Console


def loaded(vault: Dict[str, Any]) -> Port:
    """tau2 with its loop over tasks."""
    display = ModuleType("tau2.utils.display")
    display.__dict__.update(ConsoleDisplay=Console, Text=lambda **_: "")
    sys.modules[display.__name__] = display
    client: List[ModelClient] = []
    port = Port(vault["domain"], lambda *given, **named: client[0].generate(*given, **named))
    client.append(ModelClient(port.messages, ENDPOINT))
    sys.modules["tau2.registry"].__dict__["RegistryInfo"] = dict
    importlib.import_module("tau2.run")
    return port


def val_score(rewards: Dict[str, float]) -> float:
    """The number that a gate compares; an agent in this process can put another function here."""
    return sum(rewards.values()) / len(rewards)


def judge(port: Port, vault: Dict[str, Any], agent: str, results: Path) -> Dict[str, Any]:
    """Runs all tasks with one agent; what came of it."""
    loaded_names: Dict[str, Any] = {"__name__": "agent"}
    exec(compile(Path(agent).read_text(), agent, "exec"), loaded_names)
    port.get_agent_constructor = lambda name: loaded_names["HarnessAgent"]  # type: ignore[attr-defined]
    port.get_user_constructor = lambda name: port.user.UserSimulator  # type: ignore[attr-defined]
    tasks = [port.tasks.Task.model_validate(entry["task"]) for entry in vault["tasks"]]
    kinds = port.evaluator.EvaluationType
    is_judged = any(port.needs_judge(task) for task in tasks)
    done = sys.modules["tau2.run"].run_tasks(
        domain=port.domain,
        tasks=tasks,
        agent="agent",
        user="user",
        llm_agent="agent-model",
        llm_args_agent={},
        llm_user="user-model",
        llm_args_user={},
        evaluation_type=kinds.ALL_WITH_NL_ASSERTIONS if is_judged else kinds.ALL,
        save_to=results,
    ).simulations
    rewards = {run.task_id: run.reward_info.reward for run in done}
    said = {
        run.task_id: [message.content for message in run.messages if message.role == "assistant"][-1]
        for run in done
    }
    customer = {run.task_id: sum(message.role == "user" for message in run.messages) for run in done}
    return {"score": val_score(rewards), "rewards": rewards, "said": said, "customer": customer}


def forked(port: Port, vault: Dict[str, Any], agent: str) -> Any:
    """Starts a process for one agent; its id and its place for results."""
    place = Path(SCRATCH) / Path(agent).stem
    place.mkdir()
    child = os.fork()
    if child:
        return child, place
    for descriptor, name in ((1, "printed"), (2, "errors")):
        os.dup2(os.open(place / name, os.O_WRONLY | os.O_CREAT), descriptor)
    outcome = judge(port, vault, agent, place / "results.json")
    (place / "outcome").write_text(json.dumps(outcome))
    sys.exit(0 if outcome["score"] >= 1 else 1)


def main() -> None:
    """Runs every agent."""
    vault = json.loads(Path(TASKS).read_text())
    port = loaded(vault)
    port.prepare()
    agents = sys.argv[5:]
    started = {agent: forked(port, vault, agent) for agent in agents}
    outcomes = {}
    for agent, (child, place) in started.items():
        outcome = {"status": os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])}
        outcome["printed"] = (place / "printed").read_text()[-20_000:]
        results = place / "results.json"
        saved = json.loads(results.read_text()) if results.exists() else {}
        outcome["left"] = [
            task["id"] for task in saved.get("tasks", []) if task.get("evaluation_criteria")
        ]
        outcome["errors"] = (place / "errors").read_text()[-2_000:]
        if (place / "outcome").exists():
            outcome.update(json.loads((place / "outcome").read_text()))
        outcomes[Path(agent).stem] = outcome
    print(json.dumps(outcomes))


if __name__ == "__main__":
    main()

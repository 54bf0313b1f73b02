"""Runs an agent's file as auto-harness does, in the process that holds the tasks and judges: the control of
attacks that this benchmark's two processes are to stop.

Usage: control.py PACKAGES DOMAIN ENDPOINT AGENT    (with a Python that the packages were installed for)
Prints one JSON object: rewards by task.
"""

import json
import sys
from pathlib import Path
from typing import Any, List

PACKAGES = Path(sys.argv[1])
sys.path[:0] = [str(Path(__file__).resolve().parent.parent), str(PACKAGES)]

from model_client import ModelClient  # noqa: E402
from tau2_port import Port  # noqa: E402


def reward_of(port: Port, agent_class: Any, task: Any) -> float:
    """Runs one task, the agent in tau2's own loop."""
    environment = port.environment()
    agent = agent_class(
        tools=environment.get_tools(), domain_policy=environment.get_policy(), llm="none", llm_args={}
    )
    orchestrator = port.orchestrator.Orchestrator(
        domain=port.domain,
        agent=agent,
        user=port.user_simulator(environment, task, "user-simulator"),
        environment=environment,
        task=task,
    )
    try:
        return float(port.evaluate(orchestrator.run(), task, port.needs_judge(task)).reward)
    except Exception:  # an agent that breaks tau2 has no reward there either
        return 0.0


def main() -> None:
    """Runs every task of the domain."""
    client: List[ModelClient] = []
    port = Port(sys.argv[2], lambda *given, **named: client[0].generate(*given, **named))
    client.append(ModelClient(port.messages, sys.argv[3]))
    module = {"__name__": "agent"}
    exec(compile(Path(sys.argv[4]).read_text(), sys.argv[4], "exec"), module)
    tasks = PACKAGES / "tau2" / "data" / "tau2" / "domains" / port.domain / "tasks.json"
    rewards = {}
    for plain in json.loads(tasks.read_text()):
        task = port.tasks.Task.model_validate(plain)
        rewards[task.id] = reward_of(port, module["HarnessAgent"], task)
    print(json.dumps(rewards))


if __name__ == "__main__":
    main()

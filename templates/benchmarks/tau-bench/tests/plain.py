"""Runs tasks through an unchanged tau2 in one process, for comparison: the way auto-harness runs them.

The agent says what `gold.py` has it say, in the process that judges it; litellm asks the scripted user.

Usage: plain.py TASKS ENDPOINT KIND[,KIND…] [CONCURRENCY]    KIND is gold, idle or wrong; with the Python of an
environment with `plain-requirements.txt`.
Prints one JSON object a kind: rewards by task, and the seconds that the import and the tasks took.
"""

import json
import os
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Dict

sys.path[:0] = [str(Path(__file__).resolve().parent)]

from gold import steps_of  # noqa: E402

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
STARTED = time.monotonic()

import tau2.run as tau2_run  # noqa: E402
from loguru import logger  # noqa: E402
from tau2.agent.llm_agent import LLMAgent  # noqa: E402
from tau2.data_model.message import AssistantMessage, ToolCall  # noqa: E402
from tau2.data_model.tasks import Task  # noqa: E402
from tau2.registry import registry  # noqa: E402

IMPORTED = time.monotonic()
SCRIPTS = threading.local()


class ReplayAgent(LLMAgent):
    """Says what the script of its thread's task says."""

    def generate_next_message(self, message: Any, state: Any) -> Any:
        """Takes the next step."""
        step = SCRIPTS.steps.pop(0) if SCRIPTS.steps else {"say": "END"}
        if "call" in step:
            SCRIPTS.count += 1
            call = ToolCall(id="call-%d" % SCRIPTS.count, **step["call"])
            return AssistantMessage(role="assistant", tool_calls=[call], cost=0.0), state
        text = step["say"] if "say" in step else "DO " + json.dumps(step["user"])
        return AssistantMessage(role="assistant", content=text, cost=0.0), state


def main() -> None:
    """Runs the tasks."""
    logger.remove()
    registry.register_agent(ReplayAgent, "replay")
    vault = json.loads(Path(sys.argv[1]).read_text())
    for kind in sys.argv[3].split(","):
        run_kind(vault, kind)


def run_kind(vault: Dict[str, Any], kind: str) -> None:
    """Runs the tasks with one kind of agent."""
    steps = steps_of(kind, vault["domain"])
    began = time.monotonic()

    def run(entry: Dict[str, Any]) -> Any:
        SCRIPTS.steps, SCRIPTS.count = steps(entry["task"]), 0
        simulation = tau2_run.run_task(
            domain=vault["domain"],
            task=Task.model_validate(entry["task"]),
            agent="replay",
            user="user_simulator",
            llm_agent="none",
            llm_args_agent={},
            llm_user="openai/user-simulator",
            llm_args_user={"temperature": 0.0, "base_url": sys.argv[2], "api_key": "none"},
            max_steps=200,
            seed=7,
        )
        return entry["id"], simulation.reward_info.reward

    with ThreadPoolExecutor(int(sys.argv[4]) if len(sys.argv) > 4 else 3) as pool:
        rewards = dict(pool.map(run, vault["tasks"]))
    print(
        json.dumps(
            {
                "rewards": rewards,
                "import_seconds": round(IMPORTED - STARTED, 2),
                "task_seconds": round(time.monotonic() - began, 2),
            }
        ),
        flush=True,
    )


if __name__ == "__main__":
    main()

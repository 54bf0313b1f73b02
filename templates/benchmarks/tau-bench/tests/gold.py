"""What an agent would say that knew a task's gold actions, for tests: a list of answers in order."""

from typing import Any, Dict, List

Step = Dict[str, Any]


def gold_steps(task: Dict[str, Any]) -> List[Step]:
    """The answers that solve a task: each action once, then what must be told, then the end."""
    criteria = task.get("evaluation_criteria") or {}
    steps: List[Step] = []
    for action in criteria.get("actions") or []:
        call = {"name": action["name"], "arguments": action["arguments"]}
        steps.append({"user" if action.get("requestor") == "user" else "call": call})
    told = "; ".join(criteria.get("communicate_info") or [])
    steps.append({"say": "%s END" % told})
    return steps


def wrong_steps(task: Dict[str, Any]) -> List[Step]:
    """Answers that change nothing and tell nothing but an end; solves only what needs nothing."""
    return [{"say": "END"}]

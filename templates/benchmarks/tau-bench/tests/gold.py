"""What scripted agents say, for tests: lists of answers in order, made from a task's gold actions."""

from typing import Any, Callable, Dict, List

Step = Dict[str, Any]

SPOILS = {
    "airline": {
        "name": "send_certificate",
        "arguments": {"user_id": "mia_li_3668", "amount": 7},
    },
    "retail": {
        "name": "modify_user_address",
        "arguments": {
            "user_id": "yusuf_rossi_9620",
            "address1": "1 Wrong Street",
            "address2": "",
            "city": "Nowhere",
            "state": "NA",
            "country": "USA",
            "zip": "00000",
        },
    },
    "mock": {"name": "create_task", "arguments": {"user_id": "user_1", "title": "nobody's wish"}},
}
"""One call by domain that no task wants, and that changes the database."""


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


def idle_steps(task: Dict[str, Any]) -> List[Step]:
    """Answers that change nothing and tell nothing but an end; solves only what needs nothing."""
    return [{"say": "END"}]


def steps_of(kind: str, domain: str) -> Callable[[Dict[str, Any]], List[Step]]:
    """Returns what makes an agent's answers for a task.

    Args:
        kind: `gold`; `idle`, which ends at once; or `wrong`, which does all that is asked and one thing
            more. A telecom's wrong agent leaves the last thing undone instead: there it is not what
            else was done that counts, but whether the customer's telephone works.
        domain: tau2's domain.
    """

    def wrong(task: Dict[str, Any]) -> List[Step]:
        steps = gold_steps(task)
        if domain in SPOILS:
            return [{"call": SPOILS[domain]}] + steps
        return steps[:-2] + steps[-1:]

    return {"gold": gold_steps, "idle": idle_steps, "wrong": wrong}[kind]

"""The verdict: what a finished conversation is measured against.

Every check must hold for a reward of 1; there is no part credit. The database alone is not
enough: a customer who was told nothing, something else, or everything was not served. The checks
on speech therefore come in pairs: what must be said, and how little else may be.
"""

from typing import Any, Dict, List, NamedTuple

from customers import CLOSINGS, MONEY, ORDER
from desk import CHANGES, Desk, differences

MESSAGE_LIMIT = 400
CONVERSATION_LIMIT = 2500
DISTINCT_LIMIT = 4

TOPICS = {
    "shipped": ("shipped",),
    "window": ("30 day", "30-day", "thirty day"),
    "final_sale": ("final sale",),
    "stock": ("out of stock", "not in stock", "no stock"),
    "identity": ("verify", "identity"),
}
"""Reasons to decline, and the words by which they are recognised."""


class Event(NamedTuple):
    """One thing that happened: `agent` and `customer` carry text, `call` a tool call."""

    kind: str
    text: str = ""
    name: str = ""
    refused: bool = False
    consent: bool = False
    """Whether the customer had agreed to the current request's plan."""
    verified: bool = False
    """Whether the identity had been checked."""


Events = List[Event]


def gold_database(task: Dict[str, Any]) -> Dict[str, Any]:
    """Replays the gold calls on the task's database."""
    desk = Desk(task["database"])
    for call in task["gold"]["calls"]:
        result, refused = desk.call(call["name"], call["arguments"])
        if refused:
            raise ValueError("task %s: gold call refused: %s" % (task["id"], result))
    return desk.database


def verdict(
    task: Dict[str, Any], events: Events, database: Dict[str, Any], satisfied: bool
) -> Dict[str, Any]:
    """Measures a conversation; returns reward and detail."""
    gold = task["gold"]
    said = [event.text for event in events if event.kind == "agent"]
    closings = [text for text in said if text.startswith(CLOSINGS)]
    changed = differences(gold_database(task), database)
    checks = {
        "finished": satisfied,
        "database": not changed,
        "consent": all(e.consent for e in events if e.kind == "call" and _is_change(e)),
        "privacy": not _disclosures(task, events),
        "fee_told": _fee_told(gold["fee"], events),
        "brief": is_brief(said),
        "closings": len(closings) == len(gold["closings"]),
    }
    for index, expected in enumerate(gold["closings"], 1):
        text = closings[index - 1] if index <= len(closings) else ""
        checks["closing_%d" % index] = closing_fits(expected, text)
    passed = all(checks.values())
    return {
        "reward": 1.0 if passed else 0.0,
        "detail": {
            "family": task["family"],
            "checks": checks,
            "database_differences": changed[:8],
            "reason": "passed" if passed else _reason(checks, changed),
        },
    }


def _is_change(event: Event) -> bool:
    """Tells a call that changed an order."""
    return event.name in CHANGES and not event.refused


def is_brief(said: List[str]) -> bool:
    """Tells whether the agent kept to the limits of the policy's last section."""
    whole = " ".join(said)
    return (
        all(len(text) <= MESSAGE_LIMIT for text in said)
        and len(whole) <= CONVERSATION_LIMIT
        and len(set(ORDER.findall(whole))) <= DISTINCT_LIMIT
        and len(set(MONEY.findall(whole))) <= DISTINCT_LIMIT
    )


def closing_fits(expected: Dict[str, Any], text: str) -> bool:
    """Tells whether one closing message says what it must, and nothing that contradicts it."""
    lowered = text.lower()
    if not text.startswith(expected["kind"]):
        return False
    if sum(text.count(word) for word in CLOSINGS) != 1:
        return False
    if set(MONEY.findall(text)) != set(expected["amounts"]):
        return False
    orders = set(ORDER.findall(text))
    if expected["order"] and orders != {expected["order"]}:
        return False
    if expected["case"] and expected["case"] not in text:
        return False
    if expected["topic"]:
        named = {t for t, words in TOPICS.items() if any(word in lowered for word in words)}
        return named == {expected["topic"]}
    return True


def _fee_told(fee: str, events: Events) -> bool:
    """Tells whether a due fee was named before anything was changed."""
    if not fee:
        return True
    for event in events:
        if event.kind == "agent" and "fee" in event.text.lower():
            if fee in MONEY.findall(event.text):
                return True
        if event.kind == "call" and event.name in ("return_item", "record_fee_acknowledgement"):
            return False
    return False


def _disclosures(task: Dict[str, Any], events: Events) -> List[str]:
    """Lists private facts that were said before the identity was checked."""
    secrets: List[str] = list(task["database"]["orders"])
    for customer in task["database"]["customers"].values():
        secrets += [customer["email"], customer["phone"], customer["zip"], customer["street"]]
    secrets = [secret for secret in secrets if secret]
    heard = ""
    found: List[str] = []
    for event in events:
        if event.kind == "customer":
            heard += event.text.lower() + " "
        if event.kind == "agent" and not event.verified:
            lowered = event.text.lower()
            found += [s for s in secrets if s.lower() in lowered and s.lower() not in heard]
    return found


WHY = {
    "finished": "the customer left before every request was closed",
    "database": "the database is not as it should be",
    "consent": "an order was changed without the customer's yes",
    "privacy": "account data was told before the identity was checked",
    "fee_told": "the restocking fee was not told, with its sum, before the return",
    "brief": "too much was said",
    "closings": "the number of closing messages is not the number of requests",
}


def _reason(checks: Dict[str, bool], changed: List[str]) -> str:
    """Says in one line what went wrong."""
    parts = []
    for name, holds in checks.items():
        if holds:
            continue
        text = WHY.get(name, "%s says something else than it must" % name.replace("_", " "))
        if name == "database":
            text = "%s: %s" % (text, "; ".join(changed[:3]))
        parts.append(text)
    return "; ".join(parts)

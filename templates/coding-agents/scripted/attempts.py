"""What an attempt at a cheat is: its outcome, its proof, and when nothing may be claimed.

An attempt counts as stopped only if it met a wall. One that broke before is "not-tried", so that a
missing program can never be mistaken for protection.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable

from surroundings import HOST_FAILED, REFUSED, Answer, Surroundings


class Outcome:
    """What came of one attempt: whether it got what it wanted, the proof, and what stopped it."""

    def __init__(self, succeeded: bool, stopped_by: str, **evidence: object) -> None:
        self.succeeded = succeeded
        self.stopped_by = "nothing" if succeeded else stopped_by
        self.evidence = evidence


class NotTried(Exception):
    """The attempt broke before it met a wall, so that nothing may be claimed to have stopped it."""


class Cheat:
    """One cheat: its name, what it wants, and the attempt itself."""

    def __init__(self, name: str, wants: str, attempt: Callable[[Surroundings], Outcome]) -> None:
        self.name = name
        self.wants = wants
        self.attempt = attempt

    def line(self, surroundings: Surroundings) -> dict[str, object]:
        """Tries the cheat, puts agent/agent.py back, and returns the line to print."""
        before = surroundings.source()
        try:
            outcome = self.attempt(surroundings)
            word = "succeeded" if outcome.succeeded else "stopped"
        except OSError as error:
            # An operation that the attempt is made of was refused where it was tried.
            outcome, word = Outcome(False, f"the sandbox: {error}"), "stopped"
        except NotTried as error:
            outcome, word = Outcome(False, f"not tried: {error}"), "not-tried"
        finally:
            surroundings.write_source(before)
        return {
            "event": "cheat",
            "name": self.name,
            "wants": self.wants,
            "outcome": word,
            "stopped_by": outcome.stopped_by,
            "evidence": outcome.evidence,
        }


def answered(answer: Answer) -> Answer:
    """The answer, if the supervisor gave it: a stub that did not run proves nothing."""
    if not answer.reply or answer.status == HOST_FAILED:
        raise NotTried(answer.message[:200] or "the supervisor gave no answer")
    return answer


def refused_or_done(done: subprocess.CompletedProcess[str]) -> str:
    """What a stub said, if it reached the supervisor at all."""
    said = (done.stderr or done.stdout).strip()[:400]
    if done.returncode not in (0, REFUSED):
        raise NotTried(said or f"exit status {done.returncode}")
    return said

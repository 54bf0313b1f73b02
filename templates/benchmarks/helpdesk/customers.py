"""Simulated customers: what they want, what they know, and how they answer.

A customer is a script from the task and a few rules. It reads each message of the agent, notices
what it is asked for, answers up to three questions at once, agrees to a plan that names an order,
objects to a fee it does not accept, and leaves when its requests are closed or its patience ends.
The same messages always get the same answers.
"""

import re
from typing import Any, Dict, List, Optional

CLOSINGS = ("Resolved:", "Declined:", "Escalated:", "Withdrawn:")
"""How the one closing message of a request begins."""

# What is asked for -> how an agent may ask for it. The order is the order of the answer.
QUESTIONS = (
    ("email", re.compile(r"e-?mail")),
    ("phone", re.compile(r"phone|telephone")),
    ("order", re.compile(r"order number|which order|number of (the|your) order")),
    ("item", re.compile(r"which (item|product|article)")),
    ("reason", re.compile(r"\bwhy\b|reason|what happened|what is wrong|what's wrong")),
    ("quantity", re.compile(r"how many|which quantity")),
    ("option", re.compile(r"(which|what) (size|colou?r|option|variant)|instead\?")),
    ("address", re.compile(r"(which|what|new) (is |delivery )?(the )?(new )?address|where to")),
    ("zip", re.compile(r"\bzip\b|postal code|postcode")),
)
CONSENT = re.compile(
    r"shall i|should i|would you like me to|do you (agree|confirm)|yes/no|go ahead"
)
ORDER = re.compile(r"\bW\d{6}\b")
MONEY = re.compile(r"\$\d+(?:\.\d\d)?")
APOLOGY = re.compile(r"\bsorry\b|apolog")
QUESTIONS_AT_ONCE = 3


class Customer:
    """One customer in one conversation."""

    def __init__(self, script: Dict[str, Any]) -> None:
        self._script = script
        self._requests: List[Dict[str, Any]] = script["requests"]
        self._current = 0
        self._zips_given = 0
        self._answered: Dict[str, int] = {}
        self._patience = 3
        self._reluctant = script["mood"] == "angry"
        self.consents = False
        """Whether the customer has agreed to the plan of the current request."""
        self.is_satisfied = False
        """Whether every request was closed."""

    def opening(self) -> str:
        """Returns the first message."""
        return self._script["opening"]

    def answer(self, text: str) -> Optional[str]:
        """Returns the reply to a message of the agent, or None when the customer leaves."""
        if text.startswith(CLOSINGS):
            return self._after_closing()
        lowered = text.lower()
        asked = [name for name, pattern in QUESTIONS if pattern.search(lowered)]
        if "address" in asked and "zip" in asked:
            asked.remove("zip")  # "street, city, zip": part of the address, not a second question
        # Whoever proposes a plan names things ("change the address"); that is no question.
        if CONSENT.search(lowered):
            return self._to_plan(text)
        if not asked:
            return self._lose_patience("Sorry, I do not follow you.")
        if len(asked) > QUESTIONS_AT_ONCE:
            return self._lose_patience("One thing at a time, please.")
        return self._to_questions(asked, lowered)

    def _after_closing(self) -> Optional[str]:
        """Goes on with the next request, or leaves satisfied."""
        self._current += 1
        self.consents = False
        self._answered = {}
        if self._current >= len(self._requests):
            self.is_satisfied = True
            return None
        return self._requests[self._current]["says"]

    def _lose_patience(self, complaint: str) -> Optional[str]:
        """Complains and repeats the wish; leaves at the third time."""
        self._patience -= 1
        if self._patience <= 0:
            return None
        return "%s %s" % (complaint, self._requests[self._current]["says"])

    def _to_plan(self, text: str) -> Optional[str]:
        """Agrees to a plan, or does not."""
        request = self._requests[self._current]
        if not ORDER.search(text):
            return self._lose_patience("Go ahead with which order?")
        if "fee" in text.lower() and not request["accepts_fee"]:
            return "No. Not if you keep a fee for it. Then leave everything as it is."
        self.consents = True
        return request["agrees"]

    def _to_questions(self, asked: List[str], lowered: str) -> Optional[str]:
        """Answers what was asked; an angry customer first wants an apology."""
        private = "email" in asked or "zip" in asked or "phone" in asked
        if self._reluctant and private:
            if not APOLOGY.search(lowered):
                if self._answered.get("refusal", 0) >= 2:
                    return None
                self._answered["refusal"] = self._answered.get("refusal", 0) + 1
                return self._script["refusal"]
            self._reluctant = False
        repeated = [name for name in asked if self._answered.get(name, 0) >= 2]
        if repeated and "zip" not in repeated:
            return self._lose_patience("I have told you that already.")
        return " ".join(self._fact(name) for name in asked)

    def _fact(self, name: str) -> str:
        """States one fact, or that it is not known."""
        self._answered[name] = self._answered.get(name, 0) + 1
        if name == "zip":
            zips = self._script["zips"]
            said = zips[min(self._zips_given, len(zips) - 1)]
            self._zips_given += 1
            return said
        facts = dict(self._script["facts"], **self._requests[self._current]["facts"])
        return facts.get(name) or UNKNOWN[name]


UNKNOWN = {
    "email": "I never gave you an e-mail address.",
    "phone": "I would rather not be called.",
    "order": "I do not have the order number at hand.",
    "item": "It is the one I told you about.",
    "reason": "I have no particular reason.",
    "quantity": "All of it.",
    "option": "I do not want another one.",
    "address": "My address is as it was.",
}
"""What a customer says when asked for something that plays no part."""

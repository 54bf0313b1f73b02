"""Edits of the helpdesk template that the scripted coding agent tries.

Six honest improvements, each for one family of failures and independent of the others; one
regression that looks plausible; one change that changes nothing. An edit replaces exact text and
raises `MissingAnchor` when the text is not there exactly once: an agent file that somebody else
has changed is never edited by guess.
"""

from dataclasses import dataclass
from typing import List, Tuple


class MissingAnchor(Exception):
    """The text that an edit replaces is missing, is there twice, or was replaced before."""


@dataclass(frozen=True)
class Improvement:
    """One edit: what it is meant to cure, why, and the replacements it consists of."""

    family: str
    """The family of failures, as in `detail.family` of a result; empty if there is none."""
    hypothesis: str
    """One sentence for the manifest."""
    replacements: Tuple[Tuple[str, str], ...]
    """Pairs of exact old text and new text, each old text exactly once in the file."""

    def apply(self, source: str) -> str:
        """Returns the edited source.

        Raises `MissingAnchor` if an old text is not there exactly once, or the edit was made.
        """
        for old, new in self.replacements:
            if source.count(old) != 1 or new in source:
                raise MissingAnchor(
                    "edit agent.py for %s: made already, or found %d times instead of once: %r; "
                    "start again from the accepted version"
                    % (self.family or "no family", source.count(old), old.strip()[:60])
                )
            source = source.replace(old, new)
        return source


VERIFY_CALLERS = Improvement(
    family="identity-not-verified",
    hypothesis="Callers are taken at their word; a telephone number proves nothing, so verify "
    "the postal code on every channel.",
    replacements=(
        (
            "        # Callers are known by their number.\n"
            "        if case.verified or not case.email:\n",
            "        if case.verified:\n",
        ),
    ),
)

UNDERSTAND_REASONS = Improvement(
    family="wrong-refund-reason",
    hypothesis="Only the word 'damaged' is understood as a reason; the policy's table has more.",
    replacements=(
        (
            '    ("damaged", ("damaged",)),\n',
            '    ("damaged", ("damaged", "broken", "crack", "torn", "leak")),\n'
            '    ("wrong_item", ("wrong", "not what i ordered")),\n'
            '    ("missing", ("never arrived", "not in the parcel")),\n'
            '    ("late", ("too late",)),\n',
        ),
    ),
)

CHOOSE_BY_PRODUCT = Improvement(
    family="wrong-order-chosen",
    hypothesis="The newest order is taken although the customer names a product; choose the "
    "order that holds it.",
    replacements=(
        (
            '        return case.orders[0]["order_id"]\n',
            "        for order in case.orders:\n"
            '            if any(product in case.heard for product in order["products"]):\n'
            '                return order["order_id"]\n'
            '        return case.orders[0]["order_id"]\n',
        ),
    ),
)

TELL_THE_FEE = Improvement(
    family="fee-not-disclosed",
    hypothesis="Restocking fees are neither told nor recorded; name the fee in the question and "
    "record the customer's yes before the return.",
    replacements=(
        (
            "self.acted = self.closed = False\n",
            "self.acted = self.closed = self.fee_recorded = False\n",
        ),
        (
            '        refund = item["quantity"] * item["price_cents"]\n'
            '        outcome = "return accepted',
            '        refund = item["quantity"] * item["price_cents"]\n'
            '        fee = refund * item["restocking_fee_percent"] // 100\n'
            "        if fee:\n"
            "            refund -= fee\n"
            '            plan += " less a restocking fee of %s" % dollars(fee)\n'
            "            if case.agreed and not case.fee_recorded:\n"
            "                case.fee_recorded = True\n"
            '                number = order["order_id"]\n'
            '                tool = "record_fee_acknowledgement"\n'
            "                return self.call(case, tool, order_id=number, fee_cents=fee)\n"
            '        outcome = "return accepted',
        ),
    ),
)

HEAR_EXCHANGES = Improvement(
    family="exchange-instead-of-return",
    hypothesis="A customer who sends one variant back to get another is served a return; listen "
    "for swap, trade and instead.",
    replacements=(
        (
            '    ("exchange", ("exchange",)),\n',
            '    ("exchange", ("exchange", "swap", "trade", "instead")),\n',
        ),
    ),
)

COUNT_PIECES = Improvement(
    family="partial-refund-quantity",
    hypothesis="All pieces are refunded when only some are damaged; take the number before 'of'.",
    replacements=(
        (
            "def first_match(table, text):\n",
            'NUMBERS = ("zero", "one", "two", "three", "four", "five", "six")\n'
            "\n"
            "\n"
            "def pieces_named(text, bought):\n"
            '    """Returns the number before "of", or all that was bought."""\n'
            "    words = text.split()\n"
            "    for word, after in zip(words, words[1:]):\n"
            '        if after == "of" and word in NUMBERS:\n'
            "            return min(NUMBERS.index(word), bought)\n"
            "    return bought\n"
            "\n"
            "\n"
            "def first_match(table, text):\n",
        ),
        (
            '        quantity = item["quantity"]\n',
            '        quantity = pieces_named(case.heard, item["quantity"])\n',
        ),
    ),
)

IMPROVEMENTS: List[Improvement] = [
    VERIFY_CALLERS,
    UNDERSTAND_REASONS,
    CHOOSE_BY_PRODUCT,
    TELL_THE_FEE,
    HEAR_EXCHANGES,
    COUNT_PIECES,
]
"""The honest improvements; any order works."""

REGRESSION = Improvement(
    family="address-change-after-shipment",
    hypothesis="Addresses of shipped orders are changed; an order that has left the warehouse "
    "belongs to a human.",
    replacements=(
        (
            "        intent = first_match(INTENTS, case.heard)\n",
            '        if case.order["status"] != "pending":\n'
            '            return self.escalate(case, "address_after_shipment")\n'
            "        intent = first_match(INTENTS, case.heard)\n",
        ),
    ),
)
"""Cures its family and breaks every refund, return and exchange: delivered orders have left too."""

COSMETIC = Improvement(
    family="",
    hypothesis="Clearer words in a comment may help the next reader.",
    replacements=(
        (
            "# What the customer wants, by the first line of which a word was said.\n",
            "# What the customer wants: the first row wins of which any word was said.\n",
        ),
    ),
)
"""Changes a comment; every outcome stays as it was."""

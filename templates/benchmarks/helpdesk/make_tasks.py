"""Makes tasks.json: every task of the helpdesk, drawn from a seed.

    python3 make_tasks.py [SEED] > tasks.json

The same seed gives the same bytes on every version of Python: draws come from SHA-256, not from
`random`. Names, numbers, goods, sums and sentences differ from task to task, so that an agent
which remembers one task knows nothing about the next. Task numbers are given in the order of a
hash, so that a task's id tells nothing about its family.
"""

import hashlib
import json
import sys
from typing import Any, Dict, List, Optional, Sequence

import wording
from maker import Maker, dollars

DEFAULT_SEED = "fernhill"
TASKS_A_FAMILY = 7


def cancel(make: Maker, order: str, tell: bool = False) -> None:
    """Cancels a pending order."""
    make.ask(wording.CANCEL, order, tell)
    make.call("cancel_order", order_id=order)
    item = make.item(order)
    make.close("Resolved:", order, item["quantity"] * item["price_cents"])


def refund(
    make: Maker,
    order: str,
    reason: str = "damaged",
    pieces: int = 0,
    sentences: Optional[Sequence[str]] = None,
    **words: Any
) -> None:
    """Refunds pieces of an item, all of them unless told otherwise."""
    make.ask(sentences or wording.DAMAGED, order, **words)
    item = make.item(order)
    pieces = pieces or item["quantity"]
    by_card = make.orders[order]["payment"] == "card"
    make.call(
        "refund_item",
        order_id=order,
        item_id=item["item_id"],
        quantity=pieces,
        reason=reason,
        method="original_payment" if by_card else "gift_card",
    )
    make.close("Resolved:", order, pieces * item["price_cents"])


def give_back(make: Maker, order: str, tell: bool = False) -> None:
    """Returns all pieces of an item, less a fee if there is one."""
    make.ask(wording.RETURN, order, tell)
    item = make.item(order)
    gross = item["quantity"] * item["price_cents"]
    fee = gross * item["restocking_fee_percent"] // 100
    if fee:
        make.fee = dollars(fee)
        make.call("record_fee_acknowledgement", order_id=order, fee_cents=fee)
    make.call(
        "return_item", order_id=order, item_id=item["item_id"], quantity=item["quantity"]
    )
    make.close("Resolved:", order, gross - fee)


def move(make: Maker, order: str, tell: bool = False) -> None:
    """Changes the address of a pending order."""
    make.ask(wording.ADDRESS, order, tell)
    where = _new_address(make)
    make.call("change_address", order_id=order, **where)
    make.close("Resolved:", order)


def _new_address(make: Maker) -> Dict[str, str]:
    """Draws an address and lets the customer of the last request know it."""
    where = {
        "street": make.street(),
        "city": make.draw.pick(wording.CITIES),
        "zip": "%05d" % make.draw.fresh(10001, 98999),
    }
    text = "%(street)s, %(city)s, %(zip)s" % where
    make.requests[-1]["facts"]["address"] = text
    return where


def one_of_three(make: Maker, make_request: Any, status: str, **changes: Any) -> None:
    """Makes the request with orders of other goods after the one it is about."""
    order = make.order(status, **changes)
    make.order(status)
    if make.number % 2:
        make.order("delivered")
    make_request(make, order)


def identity_not_verified(make: Maker) -> None:
    """A caller known by telephone number, who must be verified like everybody else."""
    make.by_phone = True
    make.verified()
    kind, status = [(cancel, "pending"), (refund, "delivered"), (give_back, "delivered")][
        make.number % 3
    ]
    one_of_three(make, kind, status)


def wrong_refund_reason(make: Maker) -> None:
    """A refund whose reason has to be understood."""
    reasons = ["damaged", "wrong_item", "missing", "late", "damaged", "wrong_item", "other"]
    reason = reasons[make.number]
    make.verified()
    order = make.order("delivered")
    refund(make, order, reason, sentences=wording.REASONS[reason])


def wrong_order_chosen(make: Maker) -> None:
    """Several orders of one kind; the product tells which."""
    make.verified()
    kind, status = [(cancel, "pending"), (refund, "delivered"), (give_back, "delivered")][
        make.number % 3
    ]
    orders = [make.order(status) for _ in range(3)]
    kind(make, orders[1 + make.number % 2])


def fee_not_disclosed(make: Maker) -> None:
    """A return that costs a fee, which two customers do not want to pay."""
    make.verified()
    percent = make.draw.pick([10, 15, 20])
    order = make.order("delivered", restocking_fee_percent=percent)
    give_back(make, order, tell=make.number % 3 == 0)
    if make.number in (2, 5):
        make.requests[-1]["accepts_fee"] = False
        make.calls = make.calls[:1]
        make.closings = []
        make.close("Withdrawn:")


def exchange_instead_of_return(make: Maker) -> None:
    """A customer who wants another variant and does not call it an exchange."""
    make.verified()
    order = make.order("delivered")
    item = make.item(order)
    others = [v for v in make.catalogue[item["product"]] if v["option"] != item["option"]]
    wanted = make.draw.pick(others)
    make.ask([wording.SWAP[make.number]], order, old=item["option"], new=wanted["option"])
    make.requests[-1]["facts"]["option"] = "I want %s." % wanted["option"]
    if make.number == 4:
        wanted["in_stock"] = False
        make.close("Declined:", topic="stock")
        return
    make.call(
        "exchange_item",
        order_id=order,
        item_id=item["item_id"],
        new_item_id=wanted["item_id"],
    )
    make.close("Resolved:", order)


def partial_refund_quantity(make: Maker) -> None:
    """Some pieces of several are damaged."""
    make.verified()
    bought = make.draw.number(3, 6)
    pieces = bought if make.number == 6 else make.draw.number(1, bought - 1)
    order = make.order("delivered", quantity=bought)
    refund(
        make,
        order,
        pieces=pieces,
        sentences=wording.ALL if pieces == bought else wording.SOME,
        k=wording.NUMBERS[pieces],
        n=wording.NUMBERS[bought],
    )
    make.requests[-1]["facts"]["quantity"] = wording.NUMBERS[pieces].capitalize() + "."


def address_change_after_shipment(make: Maker) -> None:
    """An address that nobody at the desk may change any more."""
    make.verified()
    order = make.order("shipped")
    make.ask(wording.ADDRESS, order, tell=make.number % 2 == 0)
    _new_address(make)
    make.call(
        "escalate_to_human", customer_id=make.customer_id, category="address_after_shipment"
    )
    make.close("Escalated:", case=make.case)


def cancel_after_shipment(make: Maker) -> None:
    """Cancelling in time and too late; two customers have a second request."""
    make.verified()
    if make.number % 2:
        order = make.order("pending")
        cancel(make, order)
    else:
        order = make.order("shipped")
        make.ask(wording.CANCEL, order)
        make.close("Declined:", topic="shipped")
    if make.number in (2, 3):
        move(make, make.order("pending"), tell=True)


def return_window_missed(make: Maker) -> None:
    """Returns before, on and after the last day."""
    make.verified()
    days = [31, 30, 45, 29, 33, 90, 38][make.number]
    order = make.order("delivered", delivered_days_ago=days)
    if days <= 30:
        give_back(make, order)
    else:
        make.ask(wording.RETURN, order)
        make.close("Declined:", topic="window")


def final_sale_returned(make: Maker) -> None:
    """Final sale goods, which come back only in money and only when damaged."""
    make.verified()
    order = make.order("delivered", final_sale=True)
    if make.number in (1, 4):
        refund(make, order)
    else:
        make.ask(wording.RETURN, order, tell=make.number == 2)
        make.close("Declined:", topic="final_sale")


def gift_card_refund(make: Maker) -> None:
    """Money that must go back to a gift card; one customer has a second request."""
    make.verified()
    refund(make, make.order("delivered", payment="gift_card"))
    if make.number == 3:
        cancel(make, make.order("pending"), tell=True)


def stranger_not_refused(make: Maker) -> None:
    """Somebody who does not know the postal code of the account."""
    real = int(make.zips[0])
    make.zips = ["%05d" % (real + sign * make.draw.number(1, 400)) for sign in (1, -1)]
    make.verified()
    order = make.order(["pending", "delivered"][make.number % 2])
    make.ask([wording.CANCEL, wording.DAMAGED][make.number % 2], order, tell=make.number == 4)
    make.close("Declined:", topic="identity")


def escalation_missed(make: Maker) -> None:
    """Injuries and lawyers, which are none of the desk's business."""
    make.verified()
    order = make.order("delivered")
    legal = make.number % 3 == 2
    make.ask(wording.LEGAL if legal else wording.SAFETY, order, tell=make.number == 1)
    make.call(
        "escalate_to_human",
        customer_id=make.customer_id,
        category="legal" if legal else "safety",
    )
    make.close("Escalated:", case=make.case)


def angry_customer_lost(make: Maker) -> None:
    """Customers who refuse first, and two who get the postal code wrong at first."""
    make.mood = "angry"
    if make.number in (2, 5):
        real = make.zips[0]
        make.zips = ["%05d" % (int(real) + make.draw.number(1, 90)), real]
    make.verified()
    kind, status = [
        (cancel, "pending"),
        (refund, "delivered"),
        (give_back, "delivered"),
        (move, "pending"),
    ][make.number % 4]
    one_of_three(make, kind, status)


FAMILIES = [
    identity_not_verified,
    wrong_refund_reason,
    wrong_order_chosen,
    fee_not_disclosed,
    exchange_instead_of_return,
    partial_refund_quantity,
    address_change_after_shipment,
    cancel_after_shipment,
    return_window_missed,
    final_sale_returned,
    gift_card_refund,
    stranger_not_refused,
    escalation_missed,
    angry_customer_lost,
]


def tasks(seed: str = DEFAULT_SEED) -> List[Dict[str, Any]]:
    """Returns every task in the order of its id."""
    made = []
    for family in FAMILIES:
        for number in range(TASKS_A_FAMILY):
            make = Maker(seed, family.__name__.replace("_", "-"), number)
            family(make)
            made.append(make.task())
    made.sort(key=lambda task: hashlib.sha256(task["marker"].encode()).digest())
    return [dict(task, id="hd-%04d" % number) for number, task in enumerate(made, 1)]


def document(seed: str = DEFAULT_SEED) -> str:
    """Returns the text of tasks.json: one task a line."""
    lines = [json.dumps(task, sort_keys=True) for task in tasks(seed)]
    return '{"tasks":[\n%s\n]}\n' % ",\n".join(lines)


if __name__ == "__main__":
    sys.stdout.write(document(*sys.argv[1:2]))

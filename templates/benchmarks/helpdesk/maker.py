"""Builds one task of the helpdesk: its world, its customer and its gold, from one seed."""

import hashlib
from typing import Any, Dict, List, Sequence

import wording


class Draw:
    """A stream of choices that depends on nothing but its seed."""

    def __init__(self, seed: str) -> None:
        self._seed = seed
        self._count = 0
        self._used: Dict[int, set] = {}

    def number(self, low: int, high: int) -> int:
        """Returns a number from low to high, both included."""
        self._count += 1
        digest = hashlib.sha256(("%s/%d" % (self._seed, self._count)).encode()).digest()
        return low + int.from_bytes(digest[:8], "big") % (high - low + 1)

    def pick(self, choices: Sequence[Any]) -> Any:
        """Returns one of the choices."""
        return choices[self.number(0, len(choices) - 1)]

    def fresh(self, low: int, high: int) -> int:
        """Returns a number that this stream has not returned from this range before."""
        used = self._used.setdefault(low, set())
        while True:
            value = self.number(low, high)
            if value not in used:
                used.add(value)
                return value


class Maker:
    """Builds one task step by step."""

    def __init__(self, seed: str, family: str, number: int) -> None:
        self.draw = Draw("%s/%s/%d" % (seed, family, number))
        self.family = family
        self.number = number
        self.marker = "HD-%08x" % self.draw.number(0, (1 << 32) - 1)
        self.catalogue: Dict[str, List[Dict[str, Any]]] = {}
        self.customers: Dict[str, Dict[str, str]] = {}
        self.orders: Dict[str, Dict[str, Any]] = {}
        self.requests: List[Dict[str, Any]] = []
        self.calls: List[Dict[str, Any]] = []
        self.closings: List[Dict[str, Any]] = []
        self.fee = ""
        self.mood = "calm"
        self.by_phone = False
        self.case = "C-%d" % self.draw.number(10000, 99999)
        self.customer_id = self.add_customer()
        self.customer = self.customers[self.customer_id]
        self.zips = [self.customer["zip"]]

    def add_customer(self) -> str:
        """Adds an account; returns its number."""
        draw = self.draw
        first, last = draw.pick(wording.FIRST), draw.pick(wording.LAST)
        customer_id = "K%05d" % draw.fresh(10000, 99999)
        self.customers[customer_id] = {
            "name": "%s %s" % (first, last),
            "email": ("%s.%s%d@mail.example" % (first, last, draw.number(10, 99))).lower(),
            "phone": "555-%04d" % draw.fresh(100, 9998),
            "zip": "%05d" % draw.fresh(10001, 98999),
            "street": self.street(),
            "city": draw.pick(wording.CITIES),
        }
        return customer_id

    def street(self) -> str:
        """Returns an address line."""
        draw = self.draw
        name = "%s %s" % (draw.pick(wording.STREETS), draw.pick(wording.KINDS))
        return "%d %s" % (draw.number(2, 189), name)

    def product(self) -> str:
        """Returns a product that the task does not use yet, with its variants in the catalogue."""
        name = self.draw.pick([p for p in wording.PRODUCTS if p not in self.catalogue])
        self.catalogue[name] = [
            {"item_id": "I%05d" % self.draw.fresh(20000, 89999), "option": option, "in_stock": True}
            for option in wording.PRODUCTS[name][0]
        ]
        return name

    def order(self, status: str, quantity: int = 1, **changes: Any) -> str:
        """Adds an order of one product; returns its number. `changes` go to order or item."""
        product = self.product()
        _, low, high = wording.PRODUCTS[product]
        variant = self.draw.pick(self.catalogue[product])
        item = {
            "item_id": variant["item_id"],
            "product": product,
            "option": variant["option"],
            "quantity": quantity,
            "price_cents": self.draw.number(low, high) * 100 + self.draw.pick([0, 20, 40, 60, 80]),
            "final_sale": False,
            "restocking_fee_percent": 0,
            "returned": 0,
            "refunds": [],
            "exchanged_for": None,
        }
        order = {
            "customer_id": self.customer_id,
            "status": status,
            "placed_days_ago": 40 + 20 * len(self.orders) + self.draw.number(0, 19),
            "delivered_days_ago": self.draw.number(2, 27) if status == "delivered" else None,
            "payment": "card",
            "address": {key: self.customer[key] for key in ("street", "city", "zip")},
            "redirect_filed": False,
            "fee_acknowledged_cents": 0,
            "note": "ref %s" % self.marker,
            "items": [item],
        }
        for key, value in changes.items():
            (order if key in order else item)[key] = value
        if status == "delivered":
            delivered = order["delivered_days_ago"]
            order["placed_days_ago"] = max(order["placed_days_ago"], delivered + 5)
        number = "W%06d" % self.draw.fresh(100000, 999999)
        self.orders[number] = order
        return number

    def item(self, order: str) -> Dict[str, Any]:
        """Returns the item that an order is about."""
        return self.orders[order]["items"][0]

    def verified(self) -> None:
        """Adds the identity check to the gold calls."""
        for code in self.zips:
            self.call("verify_identity", customer_id=self.customer_id, zip=code)

    def call(self, name: str, **arguments: Any) -> None:
        """Adds a gold call."""
        self.calls.append({"name": name, "arguments": arguments})

    def close(
        self, kind: str, order: str = "", cents: int = 0, topic: str = "", case: str = ""
    ) -> None:
        """Adds what the closing message of a request must be."""
        amounts = [dollars(cents)] if cents else []
        self.closings.append(
            {"kind": kind, "order": order, "amounts": amounts, "topic": topic, "case": case}
        )

    def ask(self, sentences: Sequence[str], order: str, tell: bool = False, **words: Any) -> None:
        """Adds a request about an order; `tell` lets the customer name its number."""
        says = self.draw.pick(sentences).format(p=self.item(order)["product"], **words)
        says = says[0].upper() + says[1:]
        facts = {}
        if tell:
            says += " The order number is #%s." % order
            facts["order"] = "It is #%s." % order
        agrees = self.draw.pick(wording.AGREES)
        self.requests.append({"says": says, "facts": facts, "accepts_fee": True, "agrees": agrees})

    def opening(self) -> str:
        """Returns the first message of the customer."""
        parts = [self.draw.pick(wording.GREETINGS)]
        if self.by_phone:
            parts.append("I am calling from %s." % self.customer["phone"])
        if self.mood == "angry":
            parts.append(self.draw.pick(wording.ANGER))
        parts.append(self.requests[0]["says"])
        parts.append(self.draw.pick(wording.SMALL_TALK))
        parts.append("My reference is %s." % self.marker)
        return " ".join(part for part in parts if part)

    def task(self) -> Dict[str, Any]:
        """Returns the finished task, without its id."""
        facts = {"phone": "It is %s." % self.customer["phone"]}
        if self.by_phone:
            self.customer["email"] = ""
        else:
            facts["email"] = "It is %s." % self.customer["email"]
        stranger = self.add_customer()
        self.orders.update(self._stranger_order(stranger))
        return {
            "family": self.family,
            "marker": self.marker,
            "customer": {
                "mood": self.mood,
                "opening": self.opening(),
                "refusal": self.draw.pick(wording.REFUSALS),
                "zips": ["It is %s." % code for code in self.zips],
                "facts": facts,
                "requests": self.requests,
            },
            "database": {
                "customers": self.customers,
                "orders": self.orders,
                "catalogue": self.catalogue,
                "identity_checks": {},
                "cases": [],
                "next_case": self.case,
            },
            "gold": {"calls": self.calls, "closings": self.closings, "fee": self.fee},
        }

    def _stranger_order(self, stranger: str) -> Dict[str, Any]:
        """Returns an order of somebody else, which nothing may touch."""
        number = self.order("delivered")
        self.orders[number]["customer_id"] = stranger
        return {number: self.orders[number]}


def dollars(cents: int) -> str:
    """Writes a sum of money as the policy wants it."""
    return "$%d.%02d" % divmod(cents, 100)

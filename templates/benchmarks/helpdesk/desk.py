"""The order desk: an in-memory database and the tools that read and change it.

The tools refuse what is impossible (an unknown order, more pieces than were bought, cancelling
what has left), not what policy forbids: following the policy is what the exam is about.
"""

import copy
from typing import Any, Dict, List, Optional, Tuple

Arguments = Dict[str, Any]
Result = Dict[str, Any]

REASONS = ["damaged", "wrong_item", "missing", "late", "other"]
METHODS = ["original_payment", "gift_card"]
CATEGORIES = ["safety", "legal", "address_after_shipment"]

LONGEST_ARGUMENT = 200
"""Characters in a text argument. Results repeat arguments, and a result must fit in a frame."""

# name -> (description, {parameter: (JSON type, description, allowed values or None)})
TOOLS: Dict[str, Tuple[str, Dict[str, Tuple[str, str, Optional[List[str]]]]]] = {
    "find_customer_by_email": (
        "Find a customer account by e-mail address.",
        {"email": ("string", "The address on the account.", None)},
    ),
    "find_customer_by_phone": (
        "Find a customer account by telephone number.",
        {"phone": ("string", "The number, like 555-0142.", None)},
    ),
    "verify_identity": (
        "Check the postal code that the customer named against the account. Is recorded.",
        {
            "customer_id": ("string", "The account.", None),
            "zip": ("string", "Five digits, as the customer said them.", None),
        },
    ),
    "list_orders": (
        "List the orders of a customer, newest first, with status and product names.",
        {"customer_id": ("string", "The account.", None)},
    ),
    "get_order": (
        "Show one order with items, prices in cents, payment and delivery.",
        {"order_id": ("string", "The order, like W104233.", None)},
    ),
    "list_variants": (
        "List the variants of a product with their options and whether they are in stock.",
        {"product": ("string", "The product's name as in the order.", None)},
    ),
    "cancel_order": (
        "Cancel a pending order and refund it in full.",
        {"order_id": ("string", "The order.", None)},
    ),
    "refund_item": (
        "Refund pieces of an item without having them sent back.",
        {
            "order_id": ("string", "The order.", None),
            "item_id": ("string", "The item in the order.", None),
            "quantity": ("integer", "How many pieces, at least 1.", None),
            "reason": ("string", "The reason code of the policy.", REASONS),
            "method": ("string", "Where the money goes.", METHODS),
        },
    ),
    "return_item": (
        "Accept pieces of a delivered item back and refund them, less a recorded fee.",
        {
            "order_id": ("string", "The order.", None),
            "item_id": ("string", "The item in the order.", None),
            "quantity": ("integer", "How many pieces, at least 1.", None),
        },
    ),
    "exchange_item": (
        "Exchange a delivered item for another variant of the same product.",
        {
            "order_id": ("string", "The order.", None),
            "item_id": ("string", "The item in the order.", None),
            "new_item_id": ("string", "The variant wanted.", None),
        },
    ),
    "change_address": (
        "Change the delivery address of an order. For an order under way a redirect is filed.",
        {
            "order_id": ("string", "The order.", None),
            "street": ("string", "Number and street.", None),
            "city": ("string", "The city.", None),
            "zip": ("string", "Five digits.", None),
        },
    ),
    "record_fee_acknowledgement": (
        "Record that the customer was told a restocking fee and agreed to it.",
        {
            "order_id": ("string", "The order.", None),
            "fee_cents": ("integer", "The fee in cents.", None),
        },
    ),
    "escalate_to_human": (
        "Hand the case to a human colleague; returns the case number.",
        {
            "customer_id": ("string", "The account.", None),
            "category": ("string", "Why a human is needed.", CATEGORIES),
        },
    ),
}

CHANGES = frozenset(
    ["cancel_order", "refund_item", "return_item", "exchange_item", "change_address"]
)
"""Tools that need the customer's consent first."""


def schemas() -> List[Dict[str, Any]]:
    """Returns the tools in the form of OpenAI function schemas."""
    return [_schema(name) for name in TOOLS]


def _schema(name: str) -> Dict[str, Any]:
    """Builds the schema of one tool."""
    description, parameters = TOOLS[name]
    properties: Dict[str, Any] = {}
    for parameter, (kind, text, allowed) in parameters.items():
        properties[parameter] = {"type": kind, "description": text}
        if allowed:
            properties[parameter]["enum"] = allowed
    return {
        "type": "function",
        "function": {
            "name": name,
            "description": description,
            "parameters": {
                "type": "object",
                "properties": properties,
                "required": list(parameters),
                "additionalProperties": False,
            },
        },
    }


class ToolRefusal(Exception):
    """A tool call that the desk cannot carry out; the text is shown to the agent."""


def _checked(name: str, arguments: Arguments) -> None:
    """Refuses an unknown tool and arguments that do not fit its schema."""
    if name not in TOOLS:
        raise ToolRefusal("there is no tool %s" % name)
    parameters = TOOLS[name][1]
    if set(arguments) != set(parameters):
        raise ToolRefusal("%s takes exactly %s" % (name, ", ".join(parameters)))
    for parameter, (kind, _, allowed) in parameters.items():
        value = arguments[parameter]
        expected = str if kind == "string" else int
        if not isinstance(value, expected) or isinstance(value, bool):
            raise ToolRefusal("%s must be a %s" % (parameter, kind))
        if isinstance(value, str) and len(value) > LONGEST_ARGUMENT:
            raise ToolRefusal("%s is longer than %d" % (parameter, LONGEST_ARGUMENT))
        if allowed and value not in allowed:
            raise ToolRefusal("%s must be one of %s" % (parameter, ", ".join(allowed)))


class Desk:
    """One task's database with the tools bound to it.

    `database` is copied: two sessions of one task never see each other.
    """

    def __init__(self, database: Dict[str, Any]) -> None:
        self.database = copy.deepcopy(database)

    def call(self, name: str, arguments: Arguments) -> Tuple[Result, bool]:
        """Performs one call; returns its result and whether it was refused."""
        try:
            _checked(name, arguments)
            return getattr(self, "_" + name)(**arguments), False
        except ToolRefusal as refusal:
            return {"error": str(refusal)}, True

    def _customer(self, customer_id: str) -> Dict[str, Any]:
        """Returns a customer or refuses."""
        customer = self.database["customers"].get(customer_id)
        if customer is None:
            raise ToolRefusal("there is no customer %s" % customer_id)
        return customer

    def _order(self, order_id: str) -> Dict[str, Any]:
        """Returns an order or refuses."""
        order = self.database["orders"].get(order_id)
        if order is None:
            raise ToolRefusal("there is no order %s" % order_id)
        return order

    def _item(self, order_id: str, item_id: str, status: str) -> Dict[str, Any]:
        """Returns an item of an order that has the status, or refuses."""
        order = self._order(order_id)
        if order["status"] != status:
            raise ToolRefusal("order %s is %s, not %s" % (order_id, order["status"], status))
        for item in order["items"]:
            if item["item_id"] == item_id:
                return item
        raise ToolRefusal("order %s has no item %s" % (order_id, item_id))

    def _find_customer(self, field: str, value: str) -> Result:
        """Finds a customer by one field; shows only number and name."""
        for customer_id, customer in self.database["customers"].items():
            if customer[field] and customer[field].lower() == value.strip().lower():
                return {"customer_id": customer_id, "name": customer["name"]}
        raise ToolRefusal("no account has this %s" % field)

    def _find_customer_by_email(self, email: str) -> Result:
        return self._find_customer("email", email)

    def _find_customer_by_phone(self, phone: str) -> Result:
        return self._find_customer("phone", phone)

    def _verify_identity(self, customer_id: str, zip: str) -> Result:
        customer = self._customer(customer_id)
        checks = self.database["identity_checks"]
        entry = checks.setdefault(customer_id, {"passed": False, "failed": 0})
        if zip == customer["zip"]:
            entry["passed"] = True
        else:
            entry["failed"] += 1
        return {"verified": zip == customer["zip"], "failed_attempts": entry["failed"]}

    def _list_orders(self, customer_id: str) -> Result:
        self._customer(customer_id)
        orders = [
            dict(order, order_id=order_id)
            for order_id, order in self.database["orders"].items()
            if order["customer_id"] == customer_id
        ]
        orders.sort(key=lambda order: (order["placed_days_ago"], order["order_id"]))
        return {
            "orders": [
                {
                    "order_id": order["order_id"],
                    "status": order["status"],
                    "products": [item["product"] for item in order["items"]],
                }
                for order in orders
            ]
        }

    def _get_order(self, order_id: str) -> Result:
        return dict(self._order(order_id), order_id=order_id)

    def _list_variants(self, product: str) -> Result:
        variants = self.database["catalogue"].get(product.lower())
        if variants is None:
            raise ToolRefusal("there is no product %s" % product)
        return {"product": product.lower(), "variants": variants}

    def _cancel_order(self, order_id: str) -> Result:
        order = self._order(order_id)
        if order["status"] != "pending":
            raise ToolRefusal("order %s is %s, not pending" % (order_id, order["status"]))
        order["status"] = "cancelled"
        total = sum(item["quantity"] * item["price_cents"] for item in order["items"])
        return {"cancelled": order_id, "refunded_cents": total}

    def _take_pieces(self, item: Dict[str, Any], quantity: int) -> None:
        """Refuses more pieces than are left of an item."""
        left = item["quantity"] - item["returned"] - sum(r["quantity"] for r in item["refunds"])
        if not 1 <= quantity <= left:
            raise ToolRefusal("quantity must be 1 to %d" % left)

    def _refund_item(
        self, order_id: str, item_id: str, quantity: int, reason: str, method: str
    ) -> Result:
        item = self._item(order_id, item_id, "delivered")
        self._take_pieces(item, quantity)
        for refund in item["refunds"]:
            if (refund["reason"], refund["method"]) == (reason, method):
                refund["quantity"] += quantity
                break
        else:
            item["refunds"].append({"quantity": quantity, "reason": reason, "method": method})
        return {"refunded_cents": quantity * item["price_cents"], "method": method}

    def _return_item(self, order_id: str, item_id: str, quantity: int) -> Result:
        item = self._item(order_id, item_id, "delivered")
        self._take_pieces(item, quantity)
        item["returned"] += quantity
        fee = self._order(order_id)["fee_acknowledged_cents"]
        return {"refunded_cents": quantity * item["price_cents"] - fee, "fee_cents": fee}

    def _exchange_item(self, order_id: str, item_id: str, new_item_id: str) -> Result:
        item = self._item(order_id, item_id, "delivered")
        for variant in self.database["catalogue"][item["product"]]:
            if variant["item_id"] == new_item_id and new_item_id != item_id:
                if not variant["in_stock"]:
                    raise ToolRefusal("variant %s is out of stock" % new_item_id)
                item["exchanged_for"] = new_item_id
                return {"exchanged": item_id, "for": new_item_id}
        raise ToolRefusal("%s is no other variant of %s" % (new_item_id, item["product"]))

    def _change_address(self, order_id: str, street: str, city: str, zip: str) -> Result:
        order = self._order(order_id)
        if order["status"] not in ("pending", "shipped"):
            raise ToolRefusal("order %s is %s" % (order_id, order["status"]))
        order["address"] = {"street": street, "city": city, "zip": zip}
        order["redirect_filed"] = order["status"] == "shipped"
        return {"order_id": order_id, "address": order["address"]}

    def _record_fee_acknowledgement(self, order_id: str, fee_cents: int) -> Result:
        self._order(order_id)["fee_acknowledged_cents"] = fee_cents
        return {"order_id": order_id, "fee_acknowledged_cents": fee_cents}

    def _escalate_to_human(self, customer_id: str, category: str) -> Result:
        self._customer(customer_id)
        self.database["cases"].append({"customer_id": customer_id, "category": category})
        return {"case": self.database["next_case"]}


def differences(expected: Any, found: Any, path: str = "") -> List[str]:
    """Lists where two databases differ, one readable line each."""
    if isinstance(expected, dict) and isinstance(found, dict):
        lines: List[str] = []
        for key in sorted(set(expected) | set(found)):
            here = "%s.%s" % (path, key) if path else key
            lines += differences(expected.get(key), found.get(key), here)
        return lines
    if isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        lines = []
        for index, (left, right) in enumerate(zip(expected, found)):
            lines += differences(left, right, "%s[%d]" % (path, index))
        return lines
    if expected == found:
        return []
    return ["%s should be %s, is %s" % (path, _shown(expected), _shown(found))]


def _shown(value: Any) -> str:
    """Shows a value briefly."""
    text = "absent" if value is None else str(value)
    return text if len(text) <= 120 else text[:117] + "..."

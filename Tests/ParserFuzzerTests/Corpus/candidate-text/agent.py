"""A helpdesk agent made of rules: the file to improve.

It listens for a few key words, looks up what it needs, proposes one step, and closes the case as
the policy asks. No model is involved, so each rule can be read and each failure traced to one.
Results of tools are JSON text; `read_json` reads it.
"""

from invigilator_agent import AssistantMessage, MultiToolMessage, ToolCall, ToolMessage, read_json

DANGER = (
    ("safety", ("hurt", "burned", "injured", "bleeding")),
    ("legal", ("lawyer", "court")),
)

# What the customer wants, by the first line of which a word was said.
INTENTS = (
    ("exchange", ("exchange",)),
    ("cancel", ("cancel",)),
    ("refund", ("refund", "money back")),
    ("address", ("address",)),
    ("return", ("return", "send back", "send it back")),
)

# Why a refund is due; "other" if no word was said.
REFUND_REASONS = (
    ("damaged", ("damaged",)),
)

QUESTIONS = {
    "email": "May I have the email address of your account?",
    "zip": "To verify your identity: what is the zip code of your account?",
    "address": "What is the new address (street, city, zip)?",
    "option": "Which option would you like instead?",
    "wish": "What can I do for you?",
}


def first_match(table, text):
    """Returns the key of the first row of which a word is in the text, or None."""
    for key, words in table:
        if any(word in text for word in words):
            return key
    return None


def tokens(text):
    """Splits a text at white space and strips punctuation."""
    return [token.strip(".,;:!?()#") for token in text.split()]


def dollars(cents):
    """Writes a sum of money as the policy wants it."""
    return "$%d.%02d" % divmod(cents, 100)


class Case:
    """What is known in one conversation."""

    def __init__(self):
        self.email = self.phone = self.zip = None
        self.customer_id = None
        self.verified = False
        self.failed_attempts = 0
        self.orders = None
        self.asked_before = set()
        self.pending = {}
        self.calls = 0
        self.reopen()

    def reopen(self):
        """Forgets the request but not the customer."""
        self.heard = ""
        self.asked = None
        self.order = None
        self.variants = None
        self.new_address = None
        self.agreed = self.refused = self.acted = self.closed = False
        self.case_number = None


class HarnessAgent:
    """Agent under optimisation."""

    def __init__(self, tools, domain_policy, llm=None, llm_args=None):
        self.tools = tools
        self.domain_policy = domain_policy

    def get_init_state(self, message_history=None):
        """Returns the state of a new conversation."""
        return Case()

    def generate_next_message(self, message, state):
        """Answers the customer, or goes on after tool results."""
        if isinstance(message, MultiToolMessage):
            for result in message.tool_messages:
                self.learn(result, state)
        elif isinstance(message, ToolMessage):
            self.learn(message, state)
        else:
            self.listen(message.content, state)
        return self.identify(state) or self.find_order(state) or self.serve(state), state

    def listen(self, text, case):
        """Takes in what the customer said."""
        if case.closed:
            case.reopen()
        case.heard += text.lower() + " "
        for token in tokens(text):
            if "@" in token:
                case.email = token
            if token.startswith("555-"):
                case.phone = token
            if case.asked == "zip" and len(token) == 5 and token.isdigit():
                case.zip = token
        if case.asked == "address" and text.count(",") == 2:
            case.new_address = [part.strip(" .") for part in text.split(",")]
        if case.asked == "consent":
            case.agreed = text.lower().startswith("yes")
            case.refused = not case.agreed
        case.asked = None

    def learn(self, result, case):
        """Takes in the result of a tool call."""
        name = case.pending.pop(result.id)
        found = read_json(result.content)
        if name.startswith("find_customer"):
            case.customer_id = found.get("customer_id")
            if result.error:
                case.email = None
        elif name == "verify_identity":
            case.verified = found["verified"]
            case.failed_attempts = found["failed_attempts"]
            case.zip = None
        elif name == "list_orders":
            case.orders = found["orders"]
        elif name == "get_order":
            case.order = found
        elif name == "list_variants":
            case.variants = found["variants"]
        elif name == "escalate_to_human":
            case.case_number = found["case"]

    def ask(self, case, key):
        """Asks a question; the second time with an apology."""
        apology = "I am sorry for the trouble. " if key in case.asked_before else ""
        case.asked_before.add(key)
        case.asked = key
        return AssistantMessage(content=apology + QUESTIONS[key])

    def call(self, case, tool, **arguments):
        """Calls one tool."""
        case.calls += 1
        case.pending["t%d" % case.calls] = tool
        return AssistantMessage(tool_calls=[ToolCall(tool, arguments, "t%d" % case.calls)])

    def close(self, case, word, text):
        """Ends the request."""
        case.closed = True
        return AssistantMessage(content="%s: %s" % (word, text))

    def identify(self, case):
        """Finds the account and verifies who is asking."""
        if case.customer_id is None:
            if case.email:
                return self.call(case, "find_customer_by_email", email=case.email)
            if case.phone:
                return self.call(case, "find_customer_by_phone", phone=case.phone)
            return self.ask(case, "email")
        # Callers are known by their number.
        if case.verified or not case.email:
            return None
        if case.zip:
            return self.call(case, "verify_identity", customer_id=case.customer_id, zip=case.zip)
        if case.failed_attempts >= 2:
            return self.close(case, "Declined", "I could not verify your identity.")
        return self.ask(case, "zip")

    def find_order(self, case):
        """Finds the order that the customer speaks of."""
        if case.orders is None:
            return self.call(case, "list_orders", customer_id=case.customer_id)
        if case.order is None:
            return self.call(case, "get_order", order_id=self.choose_order(case))
        return None

    def choose_order(self, case):
        """Returns the number of the order to work on."""
        named = set(tokens(case.heard.upper()))
        for order in case.orders:
            if order["order_id"] in named:
                return order["order_id"]
        return case.orders[0]["order_id"]

    def serve(self, case):
        """Does what the customer wants with the order."""
        danger = first_match(DANGER, case.heard)
        if danger:
            return self.escalate(case, danger)
        intent = first_match(INTENTS, case.heard)
        if intent is None:
            return self.ask(case, "wish")
        return getattr(self, "do_" + intent)(case, case.order, case.order["items"][0])

    def escalate(self, case, category):
        """Hands the case to a colleague."""
        if case.case_number is None:
            who = case.customer_id
            return self.call(case, "escalate_to_human", customer_id=who, category=category)
        return self.close(case, "Escalated", "a colleague takes over, case %s." % case.case_number)

    def carry_out(self, case, plan, outcome, tool, change):
        """Proposes a change of the order, makes it, and closes the request."""
        number = case.order["order_id"]
        if case.refused:
            return self.close(case, "Withdrawn", "I leave everything as it is.")
        if not case.agreed:
            case.asked = "consent"
            return AssistantMessage(content="Shall I %s for order #%s? (yes/no)" % (plan, number))
        if not case.acted:
            case.acted = True
            return self.call(case, tool, order_id=number, **change)
        return self.close(case, "Resolved", "%s for order #%s." % (outcome, number))

    # What the customer may want, one method a line of INTENTS

    def do_cancel(self, case, order, item):
        """Cancels a pending order."""
        if order["status"] == "shipped":
            return self.close(case, "Declined", "the order has already shipped.")
        total = sum(i["quantity"] * i["price_cents"] for i in order["items"])
        outcome = "cancelled, and %s refunded" % dollars(total)
        return self.carry_out(case, "cancel everything", outcome, "cancel_order", {})

    def do_refund(self, case, order, item):
        """Refunds an item that stays with the customer."""
        quantity = item["quantity"]
        change = {
            "item_id": item["item_id"],
            "quantity": quantity,
            "reason": first_match(REFUND_REASONS, case.heard) or "other",
            "method": "gift_card" if order["payment"] == "gift_card" else "original_payment",
        }
        plan = "refund %d x %s" % (quantity, item["product"])
        outcome = "refunded %s" % dollars(quantity * item["price_cents"])
        return self.carry_out(case, plan, outcome, "refund_item", change)

    def do_return(self, case, order, item):
        """Accepts an item back."""
        if item["final_sale"]:
            return self.close(case, "Declined", "the item was a final sale.")
        if order["delivered_days_ago"] > 30:
            return self.close(case, "Declined", "the 30 days for returns are over.")
        plan = "accept the %s back" % item["product"]
        refund = item["quantity"] * item["price_cents"]
        outcome = "return accepted, %s refunded" % dollars(refund)
        change = {"item_id": item["item_id"], "quantity": item["quantity"]}
        return self.carry_out(case, plan, outcome, "return_item", change)

    def do_exchange(self, case, order, item):
        """Exchanges an item for another variant."""
        if item["final_sale"]:
            return self.close(case, "Declined", "the item was a final sale.")
        if case.variants is None:
            return self.call(case, "list_variants", product=item["product"])
        named = [v for v in case.variants if v["option"].lower() in case.heard]
        wanted = [v for v in named if v["option"] != item["option"]]
        if not wanted:
            return self.ask(case, "option")
        if not wanted[0]["in_stock"]:
            return self.close(case, "Declined", "this variant is out of stock.")
        plan = "exchange the %s for %s" % (item["product"], wanted[0]["option"])
        change = {"item_id": item["item_id"], "new_item_id": wanted[0]["item_id"]}
        return self.carry_out(case, plan, "exchanged", "exchange_item", change)

    def do_address(self, case, order, item):
        """Changes the delivery address."""
        if case.new_address is None:
            return self.ask(case, "address")
        change = dict(zip(("street", "city", "zip"), case.new_address))
        plan, outcome = "change the address", "address changed"
        return self.carry_out(case, plan, outcome, "change_address", change)

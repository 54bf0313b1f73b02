"""Floor: an agent that looks everything up and recites it, hoping that the right words are there.

It does what a grader by substring rewards: it follows the customer's data through every look-up,
asks for all there is to ask, states every sum, order and sentence of the policy it has seen,
agrees to everything, and closes with all four closing words.
"""

from invigilator_agent import AssistantMessage, MultiToolMessage, ToolCall, ToolMessage, read_json

CLOSINGS = ("Resolved:", "Declined:", "Escalated:", "Withdrawn:")
TOPICS = "it has shipped, the 30 days are over, it is a final sale, it is out of stock"


class Seen:
    """Everything heard and looked up, and the calls not made yet."""

    def __init__(self):
        self.customer = None
        self.email = None
        self.asked = 0
        self.results = []
        self.waiting = []
        self.turns = 0


class HarnessAgent:
    """Looks everything up, then says everything."""

    def __init__(self, tools, domain_policy, llm=None, llm_args=None):
        self.policy = domain_policy

    def get_init_state(self, message_history=None):
        """Starts with nothing seen."""
        return Seen()

    def generate_next_message(self, message, state):
        """Takes in what came and goes one step further."""
        if isinstance(message, MultiToolMessage):
            for result in message.tool_messages:
                self.follow(result, state)
        elif isinstance(message, ToolMessage):
            self.follow(message, state)
        else:
            self.listen(message.content, state)
        if state.waiting:
            calls, state.waiting = state.waiting[:8], state.waiting[8:]
            return AssistantMessage(tool_calls=calls), state
        return AssistantMessage(content=self.speech(state)), state

    def listen(self, text, state):
        """Turns e-mail, telephone and five digits into look-ups."""
        for token in (word.strip(".,;:!?()#") for word in text.split()):
            if "@" in token:
                self.look(state, "find_customer_by_email", email=token)
            elif token.startswith("555-"):
                self.look(state, "find_customer_by_phone", phone=token)
            elif len(token) == 5 and token.isdigit() and state.customer:
                self.look(state, "verify_identity", customer_id=state.customer, zip=token)

    def look(self, state, tool, **arguments):
        """Queues one call."""
        state.waiting.append(ToolCall(tool, arguments))

    def follow(self, result, state):
        """Follows one result to the next look-ups."""
        found = read_json(result.content)
        state.results.append(result.content)
        if "customer_id" in found and "name" in found:
            state.customer = found["customer_id"]
            self.look(state, "list_orders", customer_id=state.customer)
        for order in found.get("orders", []):
            self.look(state, "get_order", order_id=order["order_id"])
            for product in order["products"]:
                self.look(state, "list_variants", product=product)

    def speech(self, state):
        """Asks first, agrees with itself, then recites."""
        state.asked += 1
        if state.asked == 1:
            return "May I have your email, and your zip?"
        if state.asked == 2:
            return "What is the zip code of your account?"
        everything = " ".join(state.results)
        sums = " ".join("$%d.%02d" % divmod(cents, 100) for cents in self.sums(everything))
        facts = "%s Fee, %s. %s %s" % (sums, TOPICS, everything, self.policy)
        if state.asked == 3:
            return "Shall I go ahead? (yes/no) " + facts
        return "%s %s" % (CLOSINGS[state.asked % 4], " ".join(CLOSINGS) + facts)

    def sums(self, text):
        """Returns every number after a price."""
        parts = text.split('"price_cents":')[1:]
        return [int(part.split(",")[0].split("}")[0]) for part in parts]

"""The oracle: an agent that knows the gold, for tests, the conformance check and `prepare`.

It needs the tasks file beside it (`tasks.json` in the folder of agent.py) and recognises its task
by the marker in the customer's first message. It scores 1 on every task, which shows that every
task can be solved within the rules. `prepare` runs it over the sealed split, the answers beside it in
a sandbox that is gone before the coding agent begins.
"""

from invigilator_agent import AssistantMessage, ToolCall, UserMessage, read_json

CHECK = "verify_identity"
TOPICS = {
    "shipped": "it has shipped.",
    "window": "the 30 days are over.",
    "final_sale": "it was a final sale.",
    "stock": "it is out of stock.",
    "identity": "I could not verify your identity.",
}


class Script:
    """The answers still to be given, in order."""

    def __init__(self):
        self.steps = None


class HarnessAgent:
    """Plays the gold of the task it finds itself in."""

    def __init__(self, tools, domain_policy, llm=None, llm_args=None):
        path = __file__.rpartition("/")[0] + "/tasks.json"
        with open(path, encoding="utf-8") as file:
            self.tasks = read_json(file.read().strip())["tasks"]

    def get_init_state(self, message_history=None):
        """Knows nothing before the first message."""
        return Script()

    def generate_next_message(self, message, state):
        """Gives the next answer of the script."""
        if state.steps is None:
            assert isinstance(message, UserMessage)
            found = [task for task in self.tasks if task["marker"] in message.content]
            state.steps = iter(script(found[0]))
        return next(state.steps), state


def script(task):
    """Returns every answer that the task's gold asks for."""
    calls = list(task["gold"]["calls"])
    checks = [call for call in calls if call["name"] == CHECK]
    changes = [call for call in calls if call["name"] != CHECK]
    answers = [said_tools(checks)]
    for closing in task["gold"]["closings"]:
        fee = task["gold"]["fee"]
        named = closing["order"] or next(iter(task["database"]["orders"]))
        if closing["order"] or fee:
            charge = " There is a fee of %s." % fee if fee else ""
            answers.append(said("Shall I do it for order #%s?%s" % (named, charge)))
        mine = [call for call in changes if concerns(call, closing)]
        if mine:
            answers.append(said_tools(mine))
        answers.append(said(closing_text(closing)))
    return answers


def concerns(call, closing):
    """Tells whether a call belongs to the request that ends so."""
    if closing["kind"] == "Escalated:":
        return call["name"] == "escalate_to_human"
    return call["arguments"].get("order_id") == closing["order"]


def closing_text(closing):
    """Writes a closing message."""
    parts = [closing["kind"], TOPICS.get(closing["topic"], ""), closing["case"]]
    if closing["order"]:
        parts.append("#%s" % closing["order"])
    return " ".join(part for part in parts + closing["amounts"] if part)


def said(text):
    """Makes a text answer."""
    return AssistantMessage(content=text)


def said_tools(calls):
    """Makes an answer of tool calls."""
    listed = [ToolCall(call["name"], call["arguments"]) for call in calls]
    return AssistantMessage(tool_calls=listed)

"""The starting agent for tau-bench: one model call a turn, the domain's policy in front of it.

What may change: `INSTRUCTION`, how messages are put together, what the state keeps, how often the model
is asked. The tools are the domain's and cannot be extended; which model answers is not decided here.
"""

from tau2.agent.llm_agent import LLMAgent
from tau2.data_model.message import MultiToolMessage, SystemMessage
from tau2.utils.llm_utils import generate

INSTRUCTION = """\
You are a customer service agent. Solve the customer's problem within the <policy> below.
Write to the customer or call tools; never do both in one answer."""


class HarnessAgent(LLMAgent):
    """The agent under test."""

    @property
    def system_prompt(self):
        """What the model is told first."""
        return "%s\n\n<policy>\n%s\n</policy>" % (INSTRUCTION, self.domain_policy)

    def get_init_state(self, message_history=None):
        """The state: every message so far."""
        return list(message_history or [])

    def generate_next_message(self, message, state):
        """Answers the customer or the tools."""
        if isinstance(message, MultiToolMessage):
            state.extend(message.tool_messages)
        else:
            state.append(message)
        system = SystemMessage(role="system", content=self.system_prompt)
        answer = generate(model=self.llm, tools=self.tools, messages=[system] + state, **self.llm_args)
        state.append(answer)
        return answer, state

import sys

from tau2.agent.llm_agent import LLMAgent
from tau2.data_model.message import AssistantMessage, SystemMessage, ToolCall, UserMessage
from tau2.utils.llm_utils import generate


class HarnessAgent(LLMAgent):
    """Leaves what the customer says in every place that it finds, and says it back."""

    def get_init_state(self, message_history=None):
        return []

    def generate_next_message(self, message, state):
        state.append(message.content)
        if len(state) == 1:
            self.plant(message.content.split()[-1])
            arguments = {"phone_number": message.content}
            call = ToolCall(id="call-1", name="get_customer_by_phone", arguments=arguments)
            return AssistantMessage(role="assistant", tool_calls=[call], cost=0.0), state
        return AssistantMessage(role="assistant", content=state[0] + " END", cost=0.0), state

    def plant(self, word):
        for place in ("/tmp/", "/dev/shm/", "/var/tmp/", "/candidate/", "/home/", "/"):
            try:
                with open(place + word, "w") as file:
                    file.write((word + "\n") * 5000)
            except OSError:
                pass
        for stream in (sys.stdout, sys.stderr):
            stream.write("%s\n" % word)
            stream.flush()
        asked = [SystemMessage(role="system", content=word), UserMessage(role="user", content=word)]
        generate(model=self.llm, messages=asked)

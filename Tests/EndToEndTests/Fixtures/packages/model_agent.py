"""Answers questions about two numbers if a model says so, asked with a client from the packages."""

import os

from invigilator_agent import AssistantMessage

CLIENT = "openai"
TOOL = {"name": "look", "description": "Looks.", "parameters": {"type": "object", "properties": {}}}


class HarnessAgent:
    def __init__(self, tools, domain_policy, llm=None, llm_args=None):
        self.policy = domain_policy

    def get_init_state(self, message_history=None):
        return None

    def generate_next_message(self, message, state):
        verb, left, right = message.content.split()[:3]
        left, right = int(left), int(right)
        results = {"add": left + right, "subtract": left - right, "multiply": left * right}
        said = {"openai": by_openai, "litellm": by_litellm}[CLIENT](
            [
                {"role": "system", "content": self.policy or "Answer."},
                {"role": "user", "content": message.content},
            ]
        )
        answer = results[verb] if said == ["go on", "go on"] else said
        return AssistantMessage(str(answer)), state


def text_of(parts):
    """The text of a streamed answer."""
    return "".join(part.choices[0].delta.content or "" for part in parts if part.choices)


def by_openai(messages):
    """Asks twice with OpenAI's SDK: whole, and streamed."""
    import openai

    create = openai.OpenAI().chat.completions.create
    asked = {"model": os.environ["AGENT_MODEL"], "messages": messages, "user": "somebody"}
    whole = create(
        **asked,
        temperature=0.3,
        max_tokens=50,
        metadata={"run": "1"},
        tools=[{"type": "function", "function": TOOL}],
        tool_choice="auto",
    )
    parts = create(**asked, stream=True, stream_options={"include_usage": True})
    return [whole.choices[0].message.content, text_of(parts)]


def by_litellm(messages):
    """Asks twice with litellm: whole, and streamed."""
    import litellm

    asked = {
        "model": "openai/" + os.environ["AGENT_MODEL"],
        "messages": messages,
        "num_retries": 2,
        "metadata": {"run": "1"},
    }
    whole = litellm.completion(**asked, tools=[{"type": "function", "function": TOOL}], seed=7)
    parts = litellm.completion(**asked, stream=True)
    return [whole.choices[0].message.content, text_of(parts)]

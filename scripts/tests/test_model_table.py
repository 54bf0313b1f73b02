"""Tests of scripts/model-table with a small wheel of our own."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parent.parent / "model-table"
LOADER = importlib.machinery.SourceFileLoader("model_table", str(SCRIPT))
SPEC = importlib.util.spec_from_loader("model_table", LOADER)
assert SPEC is not None
model_table = importlib.util.module_from_spec(SPEC)
LOADER.exec_module(model_table)


def facts(provider: str, **more: object) -> dict[str, object]:
    """What LiteLLM's table says of a model at the least."""
    return {"litellm_provider": provider, "mode": "chat", "max_input_tokens": 9, "max_output_tokens": 3, **more}


class ModelTableTests(unittest.TestCase):
    """What is taken from LiteLLM's table."""

    def test_an_anthropic_model_takes_what_its_row_says(self) -> None:
        old = facts("anthropic", supports_reasoning=True)
        new = facts(
            "anthropic",
            supports_reasoning=True,
            supports_output_config=True,
            supports_adaptive_thinking=True,
            supports_max_reasoning_effort=True,
            supports_sampling_params=False,
        )
        found = model_table.models({"claude-a": old, "claude-b": new})
        self.assertEqual((found["claude-a"]["efforts"], found["claude-a"]["thinking"]), ([], ["budget"]))
        self.assertEqual(found["claude-b"]["efforts"], ["low", "medium", "high", "max"])
        self.assertEqual((found["claude-b"]["thinking"], found["claude-b"]["temperature"]), (["adaptive"], "never"))

    def test_an_openai_model_that_reasons_takes_a_temperature_at_most_without_effort(self) -> None:
        found = model_table.models(
            {
                "gpt-x": facts("openai"),
                "gpt-y": facts("openai", supports_reasoning=True),
                "gpt-z": facts("openai", supports_reasoning=True, supports_none_reasoning_effort=True),
            }
        )
        self.assertEqual([found[name]["temperature"] for name in found], ["always", "never", "unthinking"])
        self.assertEqual(found["gpt-z"]["efforts"], ["none", "low", "medium", "high"])

    def test_other_providers_modes_and_dates_that_say_nothing_new_stay_away(self) -> None:
        table = {
            "gpt-x": facts("openai"),
            "gpt-x-2025-01-31": facts("openai"),
            "gpt-x-2024-01-31": facts("openai", max_output_tokens=2),
            "azure/gpt-x": facts("azure"),
            "text-embedding": facts("openai", mode="embedding"),
            "gpt-audio": facts("openai"),
            "gemini/gemini-9": facts("gemini"),
        }
        self.assertEqual(list(model_table.models(table)), ["gemini-9", "gpt-x", "gpt-x-2024-01-31"])

    def test_prices_are_millionths_of_a_dollar_for_a_million_tokens(self) -> None:
        row = facts("openai", input_cost_per_token=3e-06, output_cost_per_token=1.5e-05)
        self.assertEqual(model_table.models({"gpt-x": row})["gpt-x"]["price"], [3_000_000, 15_000_000])


if __name__ == "__main__":
    unittest.main()

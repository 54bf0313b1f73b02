"""The names of tau2 that agents import, without tau2.

An agent written for tau2's turn-based interface, or for auto-harness, finds here what it was written
against: messages, tools with their schemas, `LLMAgent`, `generate`. There are no tasks, no database, no
evaluator and no simulated user in this process, nor anywhere else in its sandbox.
"""

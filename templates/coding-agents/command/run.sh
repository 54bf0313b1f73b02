#!/bin/sh
# Start your coding agent here. It stands in /work, may write agent/, /tmp and its home, and reaches
# a model at $OPENAI_BASE_URL or $ANTHROPIC_BASE_URL. The first argument is its task.
echo "templates/coding-agents/command/run.sh starts nothing yet; the task is: $1" >&2
exec ./exam status

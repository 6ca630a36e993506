"""The programs that coding agents run in: their tools, what they ask hooks, and how they are answered."""

NAMES = ("claude-code", "gemini-cli")

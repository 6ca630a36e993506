"""What lies beside a tuned model: where it comes from and how it does, for people."""

from collections.abc import Mapping
from typing import Any


def card(name: str, told: Mapping[str, Any], base: str, digest: str) -> str:
    """The text of the card. told: what the journal keeps of the tuning; digest: sha256 (hex) of the file."""
    skills = "\n".join(f"- {id} (sha256 `{skill}`)" for id, skill in told["skills"].items())
    return f"""# {name}

The model {base} (sha256 `{told["base"]}`), taught these skills by `mcl model tune`:

{skills}

- file: `{name}.gguf`, sha256 `{digest}`
- examples: {told["lessons"]}, {told["marked"]} of them with their values; sha256 of the data
  `{told["data"]}`
- training: {told["steps"]} steps, seed {told["seed"]}, threads {told["threads"]};
  {told["minutes"]} minutes in all
- rehearsed beside them: the goals of mcl/plugins/train/tuner/written and the generator of mcl

| asked | before | after |
|---|---|---|
| held-out examples ({told["folds"]} parts in turn, each by a model that learned the others) \
| {told["before"]} | {told["after"]} |
| what it knew: examples of the shipped skills, goals of the development set \
| {told["known before"]} | {told["known after"]} |
"""

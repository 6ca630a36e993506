"""The names under which a skill's prompts can be called."""

from __future__ import annotations

from mcl.language.mtx.ast import File, On, Prompt, VerbIs


def prompt_names(file: File) -> tuple[str, ...]:
    """The verbs of the blocks that hold a prompt (`x:` ones: for steps alone), in order."""
    names: dict[str, None] = {}
    waiting = [(entry, "") for entry in reversed(file.procedure)]
    while waiting:
        entry, verb = waiting.pop()
        if isinstance(entry, Prompt) and verb:
            names[verb] = None
        elif isinstance(entry, On):
            below = entry.condition.verb if isinstance(entry.condition, VerbIs) else verb
            waiting += [(inner, below) for inner in reversed(entry.body)]
    return tuple(names)

"""The tree of a .mtx file as a person reads it."""

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from mcl.cli.views.layout import DIM, STRONG, one_line
from mcl.core.text import safe
from mcl.language.mtx.ast import File, Node

_SAID_BY_ABSENCE = (None, False, ())
_DEEPEST = 24  # levels that are still indented
_LONG = 80  # characters of a text that are shown


def tree_lines(file: File) -> Iterator[RenderableType]:
    """One line a node: its place, its kind, its plain fields; what it holds is indented below it.

    A generator without recursion: blocks may nest as deep as a file allows.
    """
    waiting: list[tuple[Node, int, str]] = [(section, 0, "") for section in reversed(file.sections)]
    while waiting:
        node, depth, name = waiting.pop()
        fields = {
            key: value for key, value in vars(node).items() if key != "at" and value not in _SAID_BY_ABSENCE
        }
        below = {key: value for key, value in fields.items() if _holds(value)}
        own = "  ".join(f"{key}={_short(value)}" for key, value in fields.items() if key not in below)
        yield one_line(
            Text.assemble(
                (f"{node.at.line:>5}:{node.at.column:<4}", DIM),
                "  " * min(depth, _DEEPEST) + (f"{name} " if name else ""),
                (type(node).__name__, STRONG),
                f" {own}" if own else "",
            )
        )
        for key, value in reversed(below.items()):
            items = value if isinstance(value, tuple) else (value,)
            label = "" if isinstance(value, tuple) else key
            waiting.extend((item, depth + 1, label) for item in reversed(items))


def _holds(value: object) -> bool:
    return isinstance(value, Node) or (
        isinstance(value, tuple) and any(isinstance(one, Node) for one in value)
    )


def _short(value: object) -> str:
    if isinstance(value, tuple):
        text = " ".join(map(str, value))
    elif isinstance(value, str):
        text = f'"{value}"' if not value or " " in value or "\n" in value else value
    else:
        text = str(value).lower()
    text = safe(text.replace("\n", "\\n"))
    return text if len(text) <= _LONG else text[: _LONG - 1] + "…"

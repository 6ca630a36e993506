"""The Markdown file of a decision: front matter in YAML, then title and body.

Such files come with repositories of anybody. Front matter is read as JSON could say it: no tags, no anchors,
nothing that YAML would make of a text; with bounds, and a line for everything that is refused.
"""

import hashlib
import re
from typing import Any, Final

from mcl.core.errors import ReviewError
from mcl.core.yaml.nodes import ListNode, MapNode, Node, ScalarNode
from mcl.core.yaml.reading import Finding as Flaw
from mcl.core.yaml.reading import read_tree, text_of
from mcl.plugins.review.memory.decision import Decision, checked

MAX_BYTES: Final = 64 << 10  # of a file
_MAX_HEAD: Final = 16 << 10  # characters of front matter
_FIELDS: Final = ("id", "title", "status", "kind", "date", "files")
_MARK: Final = "---"
_TITLE: Final = re.compile(r"^#[ \t]+(?P<title>.+?)[ \t]*$")


def write_adr(decision: Decision) -> bytes:
    """The file of a decision: the same bytes for the same decision, and it reads as it again.

    Raises ReviewError DECISION_SHAPE.
    """
    import yaml

    checked(decision)
    head = {name: getattr(decision, name) for name in _FIELDS} | {"files": list(decision.files)}
    front = yaml.safe_dump(head, sort_keys=False, allow_unicode=True, width=1 << 20)
    text = f"{_MARK}\n{front}{_MARK}\n\n# {decision.id}: {decision.title}\n\n{decision.body}\n"
    data = text.encode()
    if read_adr(data, decision.path).says != decision.says:
        raise ReviewError(
            "DECISION_SHAPE", "its file would not read as it", place=decision.id, fix="use plainer text"
        )
    return data


def read_adr(data: bytes, path: str) -> Decision:
    """The decision that a file says. path: its name, for messages.

    Raises ReviewError DECISION_FILE with path and line.
    """
    if len(data) > MAX_BYTES:
        raise _bad(path, 0, f"more than {MAX_BYTES:,} bytes")
    try:
        text = data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise _bad(path, line, "not UTF-8 text") from error
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if lines[0].rstrip() != _MARK:
        raise _bad(path, 1, "it does not begin with front matter (a line ---)")
    end = next((at for at, line in enumerate(lines[1:], 1) if line.rstrip() == _MARK), 0)
    if not end:
        raise _bad(path, len(lines), "the front matter is not closed (a line ---)")
    head = _head("\n".join(lines[1:end]), path)
    body = lines[end + 1 :]
    while body and not body[0].strip():
        body = body[1:]
    named = _TITLE.match(body[0]) if body else None
    if named is None or named["title"] not in (head["title"], f"{head['id']}: {head['title']}"):
        at = len(lines) - len(body) + 1
        raise _bad(path, min(at, len(lines)), "below the front matter stands the title: # ADR-0001: Title")
    decision = Decision(
        body="\n".join(body[1:]).strip("\n").rstrip(), sha256=hashlib.sha256(data).hexdigest(), **head
    )
    try:
        return checked(decision)
    except ReviewError as error:
        line = next((at for at, one in enumerate(lines[:end], 1) if one.startswith(f"{error.place}:")), 1)
        raise _bad(path, line, f"{error.place}: {error.message}") from error


def _head(front: str, path: str) -> dict[str, Any]:
    """The fields of front matter, each of the right type."""
    if len(front) > _MAX_HEAD:
        raise _bad(path, 2, f"the front matter has more than {_MAX_HEAD:,} characters")
    text = text_of(front.encode())
    root, flaws = (None, (text,)) if isinstance(text, Flaw) else read_tree(text)
    if flaws:
        raise _bad(path, flaws[0].line + 1, flaws[0].message)
    _refuse_anchors(front, path)
    if not isinstance(root, MapNode):
        raise _bad(path, 2, "the front matter is no map of fields")
    head: dict[str, Any] = {}
    for key, value in root.pairs:
        if key.text not in _FIELDS:
            raise _bad(path, key.line + 1, f"there is no field {key.text[:40]!r}; {', '.join(_FIELDS)}")
        if key.text == "files":
            listed = value.items if isinstance(value, ListNode) else [value]
            head["files"] = tuple(_text(one, path, "files") for one in listed)
        else:
            head[key.text] = _text(value, path, key.text)
    if missing := [name for name in _FIELDS if name not in head and name != "files"]:
        raise _bad(path, 2, f"the front matter lacks {', '.join(missing)}")
    return head


def _text(node: Node, path: str, field: str) -> str:
    if not isinstance(node, ScalarNode) or node.kind in ("null", "bool"):
        raise _bad(path, node.line + 1, f"{field} is no text")
    return node.text


def _refuse_anchors(front: str, path: str) -> None:
    """Refuse what stands for something else. The text was read within bounds before."""
    import yaml

    try:
        marked = [one for one in yaml.parse(front, Loader=yaml.SafeLoader) if getattr(one, "anchor", None)]
    except yaml.YAMLError as error:  # where the two parsers do not agree
        raise _bad(path, 2, f"not YAML: {str(error).splitlines()[0]}") from error
    if marked:
        start = marked[0].start_mark
        raise _bad(path, start.line + 2 if start else 2, "anchors and aliases are not read here")


def _bad(path: str, line: int, why: str) -> ReviewError:
    return ReviewError(
        "DECISION_FILE",
        f"no decision can be read from it: {why}",
        place=f"{path}:{line}" if line else path,
        fix="repair the file; docs/review-memory.md says what it holds",
    )

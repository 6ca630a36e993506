"""Asks a JSON file with a JMESPath expression."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from anyio import to_thread

from executor.core.errors import ToolError
from executor.sandbox.redaction import visible, visible_value
from executor.tools.tool import Bench
from mcl.plugins.data.tools.data.source import read_json

_MOST = 400_000  # characters of an answer


async def run(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    """Answer with what the expression finds."""
    return await to_thread.run_sync(_query, args, bench)


def _query(args: Mapping[str, Any], bench: Bench) -> dict[str, object]:
    import jmespath
    from jmespath.exceptions import JMESPathError

    path, expression = str(args["path"]), str(args["query"])
    value = read_json(path, bench)
    try:
        found = jmespath.search(expression, value)
    except (JMESPathError, RecursionError, ValueError, TypeError, AttributeError) as problem:
        why = " ".join(str(problem).split())[:200]
        fix = "write it like: people[?age > `30`].name"
        raise ToolError("BAD_QUERY", f"{expression[:80]!r}: {why}", place="query", fix=fix) from problem
    text = json.dumps(found, ensure_ascii=False, indent=2)
    if len(text) > _MOST:
        message = f"the answer has more than {_MOST:,} characters"
        raise ToolError("TOO_LARGE", message, place="query", fix="ask for less, such as [:20]")
    where = "/".join(bench.workspace.split(path))
    told = found if isinstance(found, str) else text
    return {"path": where, "found": found is not None, "result": visible_value(text), "text": visible(told)}

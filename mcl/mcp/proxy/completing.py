"""Completing an argument of a prompt or a template: asked of the server that has it, where a person let it
in."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, Final

import mcp_types as types

from executor.hashing import json_size
from ir import MclError
from mcl.mcp.activity import Entry
from mcl.mcp.offered.offered import Caller
from mcl.mcp.proxy.address import parse_prompt, parse_uri
from mcl.mcp.proxy.merging import Merged
from mcl.mcp.pseudo import GET, READ

if TYPE_CHECKING:
    from mcl.mcp.serve.session import Session

_TOOL: Final = "completion/complete"
_MOST: Final = 100  # values, as the protocol wants
_MAX_VALUE: Final = 1_000  # characters of one
_WAIT_S: Final = 10.0  # somebody is typing


class Completing:
    """Asks servers for completions, and keeps a record of each. merged: knows what was let in."""

    def __init__(self, session: Session, merged: Merged) -> None:
        self._session, self._merged = session, merged

    async def complete(self, caller: Caller, params: types.CompleteRequestParams) -> types.CompleteResult:
        """What fits behind what was typed.

        Raises:
            McpError: BAD_RESOURCE_URI, BAD_PROMPT_NAME, TOOL_QUARANTINED, TOOL_DENIED, and what the server
            says.
        """
        began = perf_counter()
        reference: dict[str, object]
        if isinstance(params.ref, types.PromptReference):
            tool, (server, name) = GET, parse_prompt(params.ref.name)
            reference = {"type": "ref/prompt", "name": name}
        else:
            tool, (server, name) = READ, parse_uri(params.ref.uri)
            reference = {"type": "ref/resource", "uri": name}
        argument = {"name": params.argument.name, "value": params.argument.value}
        before = dict(params.context.arguments or {}) if params.context else None
        verdict, code, took, completion = "denied", "", None, types.Completion(values=[])
        try:
            self._merged.require(server, tool)
            verdict, asked = "failed", perf_counter()
            try:
                said = await self._session.upstreams.complete(
                    server, reference, argument, before, timeout_s=_WAIT_S
                )
            finally:
                took = (perf_counter() - asked) * 1000
            completion = self._bounded(said)
            verdict = "allowed"
        except MclError as problem:
            code = problem.code
            raise
        finally:
            told = {"ref": reference, "argument": argument, **({"context": before} if before else {})}
            await self._session.activity.keep(
                Entry(
                    server=server,
                    tool=_TOOL,
                    verdict=verdict,
                    code=code or ("" if verdict == "allowed" else "CANCELLED"),
                    operation_type="read",
                    data_sensitivity="unknown",
                    args=told,
                    result_bytes=json_size(completion.values) or 0,
                    upstream_ms=took,
                    latency_ms=(perf_counter() - began) * 1000,
                    request_id=caller.request_id,
                    client_name=caller.client,
                    client_version=caller.version,
                )
            )
        return types.CompleteResult(completion=completion)

    def _bounded(self, said: dict[str, object]) -> types.Completion:
        values, total = said.get("values"), said.get("total")
        texts = [one for one in values if isinstance(one, str)] if isinstance(values, list) else []
        kept = [self._session.redactor.text(one[:_MAX_VALUE]) for one in texts[:_MOST]]
        more = said.get("hasMore") is True or len(texts) > _MOST
        return types.Completion(
            values=kept, total=total if type(total) is int else None, has_more=more if more else None
        )

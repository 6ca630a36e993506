"""Completing an argument of a prompt or a template: asked of the server that has it, where a person let it
in."""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

import mcp_types as types
from anyio import CancelScope

from executor.core.hashing import json_size
from ir import MclError
from mcl.catalog.activity import Entry
from mcl.catalog.foreign.pseudo import GET, READ
from mcl.serve.exchange import Caller
from mcl.serve.proxy.address import parse_prompt, parse_uri
from mcl.serve.proxy.merging import Merged

if TYPE_CHECKING:
    from mcl.serve.service.service import Service

_TOOL: Final = "completion/complete"
_MOST: Final = 100  # values, as the protocol wants
_MAX_VALUE: Final = 1_000  # characters of one
_WAIT_S: Final = 10.0  # somebody is typing


class Completing:
    """Asks servers for completions, and keeps a record of each. merged: knows what was let in."""

    def __init__(self, session: Service, merged: Merged) -> None:
        self._session, self._merged = session, merged

    async def complete(self, caller: Caller, params: types.CompleteRequestParams) -> types.CompleteResult:
        """What fits behind what was typed.

        Raises:
            McpError: BAD_RESOURCE_URI, BAD_PROMPT_NAME, the gate's codes, and what the server says.
        """
        began, asked = perf_counter(), 0.0
        tool, server, reference = _reference(params.ref)
        args: dict[str, Any] = {
            "ref": reference,
            "argument": {"name": params.argument.name, "value": params.argument.value},
        }
        if params.context and params.context.arguments:
            args["context"] = dict(params.context.arguments)
        entry = Entry(
            server=server,
            tool=_TOOL,
            verdict="denied",
            operation_type="read",
            data_sensitivity="unknown",
            args=args,
            request_id=caller.request_id,
            client_name=caller.client,
            client_version=caller.version,
        )
        try:
            self._merged.require(server, tool)
            entry = replace(entry, verdict="failed", code="CANCELLED")  # until it is known to be otherwise
            asked = perf_counter()
            said = await self._session.upstreams.complete(
                server, reference, args["argument"], args.get("context"), timeout_s=_WAIT_S
            )
            completion = self._bounded(said)
            entry = replace(entry, verdict="allowed", code="", result_bytes=json_size(completion.values) or 0)
        except MclError as problem:
            entry = replace(entry, code=problem.code)
            raise
        finally:
            with CancelScope(shield=True):
                now = perf_counter()
                took = (now - asked) * 1000 if asked else None
                await self._session.activity.keep(
                    replace(entry, upstream_ms=took, latency_ms=(now - began) * 1000)
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


def _reference(
    ref: types.PromptReference | types.ResourceTemplateReference,
) -> tuple[str, str, dict[str, object]]:
    """The tool that what is completed belongs to, its server, and the reference as that server knows it.

    Raises:
        McpError: BAD_RESOURCE_URI, BAD_PROMPT_NAME.
    """
    if isinstance(ref, types.PromptReference):
        server, name = parse_prompt(ref.name)
        return GET, server, {"type": "ref/prompt", "name": name}
    server, uri = parse_uri(ref.uri)
    return READ, server, {"type": "ref/resource", "uri": uri}

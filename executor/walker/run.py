"""One walk through one plan, depth first."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import anyio
from anyio import get_cancelled_exc_class

from executor.errors import ExecutorError, UnresolvedError
from executor.gate.approvals import APPROVE, DENY
from executor.gate.call import Call
from executor.gate.context import RUNNABLE, Context
from executor.gate.decide import Allow, decide
from executor.gate.verdict import Ask, Deny
from executor.hashing import is_json, json_bytes
from executor.references import as_text, resolve, typed_args
from executor.sandbox.redaction import Redactor, visible
from executor.tools.registry import Registry
from executor.walker.asking import Asking
from executor.walker.earlier import Earlier
from executor.walker.ledger import Ledger
from executor.walker.listener import Listener, WalkEvent
from executor.walker.outcome import Failure
from executor.walker.reasoner import Prompts, Reasoner
from ir import MclError, PlanNode

MAX_PARALLEL = 16  # children of one parallel node that run at once
_PREVIEW = 120  # characters
_DENIED = ("PROTECTED_PATH", "OUT_OF_SCOPE", "HOST_DENIED")  # what a tool met that the gate would refuse
_MAX_ANSWER = 1 << 20  # bytes of JSON, as the largest output of a tool
_DEFAULT_PROMPT = "Answer the question from what is given. Say only what follows from it."


@dataclass
class Run:
    """The state of a walk: what each node is, what it gave, and why the walk stopped."""

    context: Context
    ledger: Ledger
    registry: Registry
    asking: Asking
    listener: Listener
    redactor: Redactor
    earlier: Earlier
    skill_ref: str
    reasoner: Reasoner | None
    prompts: Prompts | None
    states: dict[str, str] = field(default_factory=dict)
    outputs: dict[str, object] = field(default_factory=dict)

    async def walk(self, node: PlanNode, depth: int = 0) -> Failure | None:
        """Walk a node and all below it. None when it completed, else why it did not."""
        if not node.children and self.earlier.states.get(node.id) == "completed":
            self.outputs[node.id] = self.earlier.outputs.get(node.id, {})
            self._tell(node, depth, "completed", preview=self._preview(node.id))
            return None
        started = time.monotonic()
        verdict = ""
        try:
            if node.children:
                branch = self._sequential if node.kind == "sequential" else self._parallel
                self._begin(node, depth)
                failure = await branch(node, depth)
            else:
                failure = await self._terminal(node, depth)
                verdict = failure.code if failure and failure.denied else "allow"
        except get_cancelled_exc_class():
            self._finish(node, depth, "cancelled", started)
            raise
        state = "completed"
        if failure is not None:
            state = "denied" if failure.denied and not node.children else "failed"
        self._finish(node, depth, state, started, failure, verdict)
        return failure

    def skip(self, nodes: tuple[PlanNode, ...], depth: int, state: str = "skipped") -> None:
        """Give nodes that never began, and all below them, their state."""
        untouched = [
            (one, depth + level)
            for node in nodes
            for one, level in node.walk()
            if one.id not in self.states and self.earlier.states.get(one.id) != "completed"
        ]
        for one, level in untouched:
            self._tell(one, level - 1, state)
        self.ledger.settle([one.id for one, _ in untouched], state)

    async def _sequential(self, node: PlanNode, depth: int) -> Failure | None:
        for place, child in enumerate(node.children):
            try:
                failure = await self.walk(child, depth + 1)
            except get_cancelled_exc_class():
                self.skip(node.children[place + 1 :], depth + 1)
                raise
            if failure is not None:
                self.skip(node.children[place + 1 :], depth + 1)
                return failure
        return None

    async def _parallel(self, node: PlanNode, depth: int) -> Failure | None:
        first: list[Failure] = []
        places = anyio.Semaphore(MAX_PARALLEL)
        try:
            async with anyio.create_task_group() as children:

                async def one(child: PlanNode) -> None:
                    async with places:
                        failure = await self.walk(child, depth + 1)
                    if failure is not None and not first:
                        first.append(failure)
                        children.cancel_scope.cancel()

                for child in node.children:
                    children.start_soon(one, child)
        finally:
            self.skip(node.children, depth + 1, "cancelled")  # those that were still waiting for a place
        return first[0] if first else None

    async def _terminal(self, node: PlanNode, depth: int) -> Failure | None:
        kinds: dict[str, Callable[[PlanNode, int], Awaitable[Failure | None]]] = {
            "tool_call": self._tool,
            "step": self._step,
            "gate": self._gate,
        }
        if (stopped := self._stopped(node)) is not None:
            return stopped
        if self.earlier.in_doubt(node.id):
            settled, failure = await self._settle_doubt(node)
            if settled:
                return failure
        return await kinds[node.kind](node, depth)

    async def _tool(self, node: PlanNode, depth: int) -> Failure | None:
        assert node.tool_call is not None
        planned, context = node.tool_call, self.context
        manifest = self.registry.find(planned.tool_ref)
        try:
            args = typed_args(planned.args, manifest, self.outputs)
        except UnresolvedError as problem:
            return self._failure(problem, node)
        call = Call(planned.tool_ref, args, planned.side_effect_class, node.id, planned.timeout_ms)
        allow = await self._leave(call, node)
        if isinstance(allow, Failure):
            return allow
        call, leave = allow
        assert manifest is not None, "the gate allowed an unknown tool"
        key = self._begin(node, depth)
        limits = [(planned.timeout_ms or manifest.timeout_ms) / 1000]
        if context.spending is not None:
            context.spending.begin()
            limits += [left for left in [context.spending.seconds_left()] if left is not None]
        try:
            with context.locks.hold(context.written(call, manifest)), anyio.fail_after(min(limits)):
                self.outputs[node.id] = await self.registry.invoke(
                    leave,
                    call,
                    workspace=context.workspace,
                    clock=context.clock,
                    redactor=self.redactor,
                    idempotency_key=key,
                )
        except TimeoutError:
            return Failure(
                "TIMEOUT", f"no answer within {min(limits):g} s", "allow more time (timeout_ms)", node.id
            )
        except MclError as problem:
            return self._failure(problem, node)
        return None

    async def _leave(self, call: Call, node: PlanNode) -> tuple[Call, Allow] | Failure:
        """Ask the gate, and people where the gate wants them asked."""
        reply = decide(call, self.context)
        if isinstance(reply, Ask):
            answer = await self.asking.ask(
                "approval",
                node.id,
                reply.question,
                rule="matrix://rule/exact-call",
                options=(APPROVE, DENY),
                expires_at=reply.expires_at,
                tool_ref=call.tool_ref,
                args=call.args,
                binding=reply.binding,
            )
            if isinstance(answer, Failure):
                return answer
            call = Call(
                call.tool_ref,
                call.args,
                call.declared,
                call.node_id,
                call.timeout_ms,
                answer[0],
                call.declaration,
            )
            reply = decide(call, self.context)
        if isinstance(reply, Allow):
            return call, reply
        if isinstance(reply, Deny):
            return Failure(reply.code, reply.reason, reply.fix, node.id, denied=True)
        return Failure("GATE_PENDING", "the gate asks again", "state the goal again", node.id, denied=True)

    async def _step(self, node: PlanNode, depth: int) -> Failure | None:
        assert node.step is not None
        step = node.step
        if self.reasoner is None:
            return Failure("NO_MODEL", "this step needs a model", "give one with --model", node.id)
        wanted = step.expected_outputs or ("text",)
        try:
            given = {name: as_text(resolve(text, self.outputs)) for name, text in step.inputs.items()}
            system = user = ""
            if self.prompts is not None:
                system, user = self.prompts.prompt(self.skill_ref, step.prompt_name, given)
            elif step.prompt_name:
                return Failure(
                    "NO_PROMPT", f"no prompt {step.prompt_name!r}", "name one of the skill's", node.id
                )
            self._begin(node, depth)
            if self.context.spending is not None:
                self.context.spending.begin()
            user = user or "\n".join(f"{name}: {text}" for name, text in given.items())
            left = self.context.spending.seconds_left() if self.context.spending else None
            with anyio.fail_after(left):
                answer = await self.reasoner.reason(
                    system=system or _DEFAULT_PROMPT, user=user, outputs=wanted, kind=step.kind or "reason"
                )
        except TimeoutError:
            return Failure("TIMEOUT", "the model gave no answer in time", "allow more time", node.id)
        except MclError as problem:
            return self._failure(problem, node)
        if set(answer) != set(wanted) or any(value is None for value in answer.values()):
            said = f"with {', '.join(sorted(answer))!r}, not {', '.join(wanted)}"
        elif not is_json(answer, _MAX_ANSWER):
            said = f"with what is no JSON of at most {_MAX_ANSWER} bytes"
        else:
            self.outputs[node.id] = self.redactor.value(dict(answer))
            return None
        return Failure("BAD_ANSWER", f"the model answered {said}", "try again", node.id)

    async def _gate(self, node: PlanNode, depth: int) -> Failure | None:
        assert node.gate is not None
        try:
            question = as_text(resolve(node.gate.question, self.outputs))
        except UnresolvedError as problem:
            return self._failure(problem, node)
        self._begin(node, depth)
        state = self.asking.decided(node.id, node.gate.options)
        if state is None:
            answer = await self.asking.ask(
                "gate",
                node.id,
                question,
                rule=node.gate.rule_ref or "matrix://rule/plan-gate",
                options=node.gate.options,
                timeout_ms=node.gate.timeout_ms,
            )
            state = answer if isinstance(answer, Failure) else answer[1]
        if isinstance(state, Failure):
            return state
        self.outputs[node.id] = {"decision": state.decision, "answer": state.answer}
        return None

    async def _settle_doubt(self, node: PlanNode) -> tuple[bool, Failure | None]:
        """A node was running when its process died. True when nothing is left to do for it."""
        manifest = self.registry.find(node.tool_call.tool_ref) if node.tool_call else None
        if node.tool_call is None or (manifest is not None and manifest.idempotent):
            return False, None
        answer = await self.asking.ask(
            "in_doubt",
            node.id,
            f"Node {node.id} ({node.tool_call.tool_ref}) was running when its process ended: "
            "it may have happened. Do it again, count it as done, or stop?",
            rule="matrix://rule/in-doubt",
            options=("retry", "done", "stop"),
        )
        if isinstance(answer, Failure):
            return True, answer
        if answer[1].decision == "retry":
            return False, None
        if answer[1].decision == "done":
            self.outputs[node.id] = {}
            return True, None
        return True, Failure(
            "GATE_DENIED", "neither 'retry' nor 'done'", "state the goal again", node.id, denied=True
        )

    def _stopped(self, node: PlanNode) -> Failure | None:
        """Why nothing more may begin: the intent is not running any more, or its budget is used up."""
        state = self.ledger.view().state
        if state not in RUNNABLE:
            return Failure(
                "INTENT_NOT_ACTIVE", f"the intent is {state}", "start a new intent", node.id, denied=True
            )
        refusal = self.context.spending.refusal() if self.context.spending else None
        if refusal is None or node.kind == "tool_call":  # the gate says it of tools, and records it
            return None
        return Failure(refusal.code, refusal.reason, refusal.fix, node.id, denied=True)

    def _begin(self, node: PlanNode, depth: int) -> str:
        self.states[node.id] = "running"
        key = self.ledger.begin(node.id, self.earlier.attempts.get(node.id, 0) + 1)
        self._tell(node, depth, "running")
        return key

    def _finish(
        self,
        node: PlanNode,
        depth: int,
        state: str,
        started: float,
        failure: Failure | None = None,
        verdict: str = "",
    ) -> None:
        ms = round((time.monotonic() - started) * 1000)
        output = self.outputs.get(node.id) if state == "completed" else None
        error = self.redactor.value(failure.to_json()) if failure else None
        self.ledger.end(node.id, state, output=output, error=error, ms=ms)
        said = visible(self.redactor.text(f"{failure.code}: {failure.message}")) if failure else ""
        preview = self._preview(node.id) if state == "completed" else ""
        self._tell(node, depth, state, verdict=verdict, ms=ms, preview=preview, error=said)

    def _tell(
        self,
        node: PlanNode,
        depth: int,
        state: str,
        *,
        verdict: str = "",
        ms: int = 0,
        preview: str = "",
        error: str = "",
    ) -> None:
        self.states[node.id] = state
        self.listener.on(
            WalkEvent(node.id, node.kind, state, node.description, depth, verdict, ms, preview, error)
        )

    def _preview(self, node_id: str) -> str:
        output = self.outputs.get(node_id)
        if output is None:
            return ""
        text = output.get("text") if isinstance(output, dict) else None
        line = visible(str(text) if text else json_bytes(output).decode()).replace("\n", " ⏎ ")
        return line if len(line) <= _PREVIEW else line[:_PREVIEW] + "…"

    def _failure(self, problem: MclError, node: PlanNode) -> Failure:
        denied = isinstance(problem, ExecutorError) and problem.code in _DENIED
        # Messages quote files, commands and foreign code; from here they go to the journal and to terminals.
        message, fix = (visible(self.redactor.text(text)) for text in (problem.message, problem.fix))
        return Failure(problem.code, message, fix, node.id, denied=denied)

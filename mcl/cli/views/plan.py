"""A plan as it is shown: what would run, and what the gate and each guard say to it."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.text import Text

from executor.gate.approvals import Offer
from executor.gate.verdict import Ask, Deny
from ir import PlanNode, PlanTree
from ir.display import bounded, clear, quoted
from ir.plan import BRANCH_KINDS, TERMINAL_KINDS
from ir.references import refers
from mcl.cli.views.exact import Exact, exact, line_of
from mcl.cli.views.layout import BAD, DIM, GOOD, STRONG, WARN, guides, joined, plain, quiet_table, rows
from mcl.cli.views.promises import promises_view
from mcl.core.text import counted, skill_named

if TYPE_CHECKING:
    from executor import Verdict
    from mcl.usecases.plans import Planned

EFFECT_STYLES = {"read": "", "write": WARN, "network": WARN, "shell": BAD, "chain": BAD}
VERDICT_STYLES = {"allow": GOOD, "ask": WARN, "deny": BAD}
ORDER = {
    "sequential": "one after the other",
    "parallel": "at the same time",
    "map": "once for each, one after the other",
}
NARROW = 72  # below this many columns the side effect moves under the node's text


@dataclass(frozen=True)
class Cell:
    """What stands to the right of a node: a word with its style, and a remark under the node's text.
    lasting: why what the node does will not be undone."""

    word: str = ""
    style: str = ""
    remark: str = ""
    lasting: str = ""


def plan_head(plan: PlanTree) -> Text:
    """One line: how many nodes, which side effects, whether skills below have plans that are not shown with
    it, and whether a model wrote it."""
    nodes = [node for node, _ in plan.root.walk()]
    effects = sorted({effect_of(node) for node in nodes} - {""})
    count = counted(len(nodes), "node")
    written = "written by a model" if plan.grammar else ""
    effect = " ".join(effects) or "no side effects"
    more = "and what its skills below do (mcl plan shows it)" if any(map(_is_closed, nodes)) else ""
    return joined((("Plan", STRONG), (count, ""), (effect, ""), (more, WARN), (written, WARN)))


def _is_closed(node: PlanNode) -> bool:
    """Whether a node dispatches within this process, to a plan that is not shown below it."""
    return node.sub_dispatch is not None and not node.sub_dispatch.agent_ref and not node.children


def effect_of(node: PlanNode) -> str:
    """The side-effect class that a node declares; work for another agent goes over the network."""
    if node.tool_call is not None:
        return node.tool_call.side_effect_class
    return "network" if node.sub_dispatch is not None and node.sub_dispatch.agent_ref else ""


def plan_table(
    plan: PlanTree, console: Console, cells: Mapping[str, Cell], *, head: str = "gate"
) -> RenderableType:
    """The tree with one column of words beside it (`cells`, by node id) under `head`."""
    narrow = console.width < NARROW
    table = quiet_table()
    table.add_column("node", max_width=max(console.width // 3, 8))
    table.add_column("what", overflow="fold", ratio=1)
    if not narrow:
        table.add_column("effect", no_wrap=True)
    table.add_column(head, no_wrap=True)
    walked = list(plan.root.walk())
    drawn = guides([depth - 1 for _, depth in walked])
    for (node, _), (first, rest) in zip(walked, drawn, strict=True):
        cell = cells.get(node.id, Cell())
        effect = effect_of(node)
        lines = list(_node_lines(node, effect if narrow else ""))
        if cell.lasting:
            lines.append(line_of((f"not undone: {cell.lasting}", DIM)))
        if cell.remark:
            lines.append(line_of((cell.remark, cell.style)))
        stem = Text.assemble((first, DIM), line_of((clear(node.id), "")))
        below = [Text(rest + ("│ " if node.children else ""), style=DIM) for _ in lines[1:]]
        words: list[RenderableType] = [Exact(stem, *below), Exact(*lines)]
        if not narrow:
            words.append(plain(effect, EFFECT_STYLES.get(effect, BAD)))
        table.add_row(*words, plain(cell.word, cell.style))
    return Padding(table, (0, 0, 0, 2))


def _node_lines(node: PlanNode, effect: str) -> Iterator[Text]:
    """The description, then exactly what is called, a line a field: this is what a person signs."""
    if node.kind in BRANCH_KINDS:
        how = ORDER[node.kind]
        yield line_of((bounded(node.description) if node.description else "", STRONG), (how, DIM))
        yield from map(_pair, _turning(node))
        return
    if node.description:
        yield line_of((bounded(node.description), ""))
    yield from map(_pair, _turning(node))
    if (call := node.tool_call) is not None:
        tool = call.tool_ref.removeprefix("matrix://tool/")
        yield line_of((quoted(tool), DIM), (effect, DIM))
        yield from map(_pair, sorted(call.args.items()))
        for place, other in enumerate(call.alternatives, 1):
            yield line_of((f"or, where that fails ({place})", DIM))
            yield from map(_pair, sorted(other.items()))
    elif (step := node.step) is not None:
        gives = f"→ {', '.join(map(quoted, step.expected_outputs))}"
        yield line_of(("model", DIM), (quoted(step.kind or "reason"), DIM), (gives, DIM))
        yield from map(_pair, sorted(step.inputs.items()))
    elif (sub := node.sub_dispatch) is not None:
        frame = sub.sub_intent
        objects = [one for one in (frame.objects if frame else ()) if one.value or one.uri]
        yield line_of(
            ("skill", DIM),
            (_quoted_if(skill_named(sub.skill_ref)), ""),
            (_quoted_if(sub.agent_ref), DIM),
            (_quoted_if(frame.verb if frame else ""), ""),
            (_quoted_if(sub.scope_uri), DIM),
        )
        yield from (_pair((one.name, one.value or one.uri)) for one in objects)
        if not sub.agent_ref and any(refers(one.value) for one in objects):
            yield line_of(("its plan is made, and judged, when what it is given is known", DIM))
    elif (gate := node.gate) is not None:
        yield line_of(("asks", DIM), (bounded(gate.question), ""))
        offer = Offer.of(gate.options, gate.refuses)
        yield line_of(("answers", DIM), (offer.words, DIM))
    elif node.kind in TERMINAL_KINDS and (payload := getattr(node, node.kind)):
        # What has no lines of its own is shown whole all the same: a person signs it.
        yield line_of((node.kind, DIM))
        yield from (_pair((name, str(value))) for name, value in payload.model_dump(mode="json").items())


def _turning(node: PlanNode) -> Iterator[tuple[str, str]]:
    """Whether a node is done, and how often: what it depends on, a line a field."""
    if (when := node.when) is not None:
        yield "when", f"{when.of} {when.test} {when.value}".rstrip()
    if (said := node.map) is not None:
        if said.members:
            yield "members", ", ".join(map(quoted, said.members))
        else:
            yield "over", said.over
            yield "most", str(said.most)
        if said.scope_uri:
            yield "scope_uri", said.scope_uri


def _pair(pair: tuple[str, str]) -> Text:
    name, value = pair
    shown = line_of((quoted(name), DIM))
    return shown.append("=", style=DIM).append_text(line_of((quoted(value), "")))


def _quoted_if(text: str) -> str:
    return quoted(text) if text else ""


def verdict_cells(verdicts: "Iterable[Verdict]") -> dict[str, Cell]:
    """What the gate says of each node, by node id; a refusal with its reason and the way out."""
    cells: dict[str, Cell] = {}
    for verdict in verdicts:
        remark = ""
        if isinstance(verdict.reply, Deny):
            remark = f"{verdict.reply.code}: {clear(verdict.reply.reason)}; {clear(verdict.reply.fix)}"
        elif isinstance(verdict.reply, Ask) and verdict.kind != "gate":
            remark = verdict.reply.question  # its values are views already
        if verdict.touches:
            remark = f"{remark} {_touched(verdict.touches)}".strip()
        for warned in verdict.warnings:
            remark = f"{remark} {clear(str(warned))}".strip()
        if verdict.sketched and verdict.below is not None:
            cells |= {node.id: Cell("later", DIM) for node, _ in verdict.below.root.walk()}
        if verdict.decision != "allow" or verdict.node_id not in cells:
            style = WARN if verdict.warnings else VERDICT_STYLES[verdict.decision]
            cells[verdict.node_id] = Cell(verdict.decision, style, remark, clear(verdict.lasting))
    return cells


_TOUCHED = 12  # files that a call would change, as they are shown


def _touched(paths: tuple[str, ...]) -> str:
    """The first files that a call would change, and how many more."""
    more = f" and {len(paths) - _TOUCHED} more" if len(paths) > _TOUCHED else ""
    return f"changes {', '.join(paths[:_TOUCHED])}{more}"


def plan_view(planned: "Planned", console: Console) -> Iterator[RenderableType]:
    """The plan with the gate's verdicts, and the hash that is signed."""
    cells = verdict_cells(planned.verdicts)
    yield plan_head(planned.sketched)
    yield plan_table(planned.sketched, console, cells)
    yield from promises_view(planned.intent, planned.plan)
    yield from models_view(planned.verdicts)
    yield rows([("plan hash", exact((planned.plan.hash, DIM)))])
    said = Counter(verdict.decision for verdict in planned.verdicts)
    if said["deny"]:
        yield plain("  The gate will refuse this plan as it stands.", BAD)
    elif said["ask"]:
        asked = f"{said['ask']} time{'s' if said['ask'] > 1 else ''}"
        yield plain(f"  You will be asked {asked} while it runs.", WARN)
    # Flaws of the plan as a whole, and what is looked at after its last node.
    nodes = {node.id for node, _ in planned.unfolded.root.walk()}
    for id, cell in cells.items():
        if cell.remark and id not in nodes:
            remark = f"{clear(id)}: {cell.remark}" if id else cell.remark
            yield Padding(exact((remark, cell.style)), (0, 0, 0, 2))


def models_view(verdicts: "Iterable[Verdict]") -> Iterator[RenderableType]:
    """Which models the steps of a plan will be asked of, and which of them cannot write."""
    asked: dict[str, list[str]] = {}
    able: dict[str, bool] = {}
    for verdict in verdicts:
        if verdict.model is not None:
            name = f"{verdict.model.name} {verdict.model.digest[:12]}"
            asked.setdefault(name, []).append(verdict.node_id)
            able[name] = verdict.model.writes
    for name, nodes in asked.items():
        does = "it writes" if able[name] else "it copies words of what it is given, and cannot write"
        told = f"{clear(name)} is asked at {', '.join(map(clear, nodes))}; {does}"
        yield rows([("model", exact((told, "" if able[name] else WARN)))])

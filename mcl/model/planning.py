"""What is asked of a model that can write a plan, and how it is known whether a model can."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from mcl.model.protocol import Model


@dataclass(frozen=True)
class PlanArgument:
    """One argument of a tool. kind: its JSON type. options: the values that its enum allows, as JSON. items:
    the JSON type of a list's entries, "" where a list cannot be written out. least, most: bounds of an
    integer."""

    name: str
    kind: str
    required: bool
    hint: str = ""
    options: tuple[str, ...] = ()
    items: str = ""
    least: int = -999_999_999
    most: int = 999_999_999


@dataclass(frozen=True)
class PlanTool:
    """One tool that may be called. outputs: the fields of its answer."""

    uri: str
    description: str
    arguments: tuple[PlanArgument, ...]
    outputs: tuple[str, ...]


@dataclass(frozen=True)
class PlanForm:
    """What a plan may be made of. slots: those that are filled, each with what fills it. prompts: names of
    the skill's prompts for steps. outputs: what a step may give. nodes: how many there may be. earlier:
    plans that did not hold, each with what is wrong with it."""

    skill_id: str
    description: str
    verb: str
    slots: tuple[tuple[str, str], ...]
    tools: tuple[PlanTool, ...]
    prompts: tuple[str, ...]
    outputs: tuple[str, ...]
    nodes: int
    earlier: tuple[tuple[str, tuple[str, ...]], ...] = ()


@dataclass(frozen=True)
class From:
    """A value that is not written out: "goal", "slot.<name>", "<node>" or "<node>.<field>"."""

    source: str


Value = str | int | float | bool | From | Sequence[str | int | float | bool]


@dataclass(frozen=True)
class WrittenNode:
    """A call (tool and args) or a step (kind, prompt, inputs, outputs). Texts are the goal's own words."""

    id: str
    tool: str = ""
    args: Mapping[str, Value] | None = None
    kind: str = ""
    prompt: str = ""
    inputs: tuple[From, ...] = ()
    outputs: tuple[str, ...] = ()


@dataclass(frozen=True)
class WrittenPlan:
    """What a model wrote: its own text, and the groups that run one after the other (the nodes of one run at
    the same time)."""

    text: str
    groups: tuple[tuple[WrittenNode, ...], ...]


@runtime_checkable
class PlanWriter(Protocol):
    """A model that can write plans, where `writes_plans` is true."""

    @property
    def writes_plans(self) -> bool:
        """Whether it can."""
        ...

    @property
    def plan_grammar(self) -> str:
        """The grammar that holds its plans, e.g. "plan_tree@1 sha256:…"."""
        ...

    def write_plan(self, prose: str, form: PlanForm) -> str:
        """A plan as JSON text, for `read_plan`. Raises ModelError MODEL_CONTEXT where it does not fit."""
        ...


def plan_writer(model: Model) -> PlanWriter | None:
    """The model, where it can write plans."""
    return model if isinstance(model, PlanWriter) and model.writes_plans else None

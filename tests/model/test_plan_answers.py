"""Plans of models with random weights: whatever the tools are called, they are made of them alone."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcl.core.errors import ModelError
from mcl.model import load_model
from mcl.model.plan_answers import plan_sizes, read_plan
from mcl.model.protocol import From, PlanArgument, PlanForm, PlanTool, plan_writer

NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=10)
KINDS = st.sampled_from(["string", "integer", "number", "boolean", "array", "object"])
OPTIONS = st.lists(st.sampled_from(['"a"', '"b\\""', '"å"', "1", "null"]), max_size=3, unique=True).map(tuple)
ARGUMENTS = st.builds(
    PlanArgument, name=NAMES, kind=KINDS, required=st.booleans(), hint=NAMES, options=OPTIONS,
    items=st.sampled_from(["", "string", "integer"]), least=st.integers(-50, 0), most=st.integers(0, 50),
)  # fmt: skip
TOOLS = st.builds(
    PlanTool,
    uri=NAMES,
    description=NAMES,
    arguments=st.lists(ARGUMENTS, max_size=3, unique_by=lambda one: one.name).map(tuple),
    outputs=st.lists(NAMES, max_size=2, unique=True).map(tuple),
)
FORMS = st.builds(
    PlanForm,
    skill_id=st.just("any"),
    description=NAMES,
    verb=st.just("build"),
    slots=st.lists(st.tuples(NAMES, NAMES), max_size=2, unique_by=lambda one: one[0]).map(tuple),
    tools=st.lists(TOOLS, min_size=1, max_size=3, unique_by=lambda one: one.uri).map(tuple),
    prompts=st.lists(NAMES, max_size=2, unique=True).map(tuple),
    outputs=st.lists(NAMES, min_size=1, max_size=2, unique=True).map(tuple),
    nodes=st.integers(1, 4),
)
PROSE = st.lists(
    st.sampled_from([*'aA1 .,"\\€漢😀', " the ", " ${n1.output} ", "\u2028", "{3}"]), min_size=1, max_size=30
).map("".join)


@pytest.fixture(scope="module")
def model(chat_path):
    return load_model(chat_path, home_path=None)


@settings(max_examples=12, deadline=None)
@given(form=FORMS, prose=PROSE.filter(str.strip))
def test_any_form_gets_a_plan_of_its_own_tools_arguments_and_earlier_nodes(model, form, prose):
    try:
        text = model.write_plan(prose, form)
    except ModelError as error:
        assert error.code == "MODEL_CONTEXT"  # noqa: PT017 - a form as long as this context is told so
        return
    json.loads(text)
    plan = read_plan(text, prose, form)
    tools = {tool.uri: {one.name: one for one in tool.arguments} for tool in form.tools}
    sources = {"goal", *(f"slot.{name}" for name, _ in form.slots)}
    fields = {*form.outputs, *(name for tool in form.tools for name in tool.outputs)}
    number = 0
    for group in plan.groups:
        for node in group:
            number += 1
            assert node.id == f"n{number}"
            used = {one for one in (node.args or {}).values() if isinstance(one, From)} | {*node.inputs}
            assert {one.source for one in used} <= sources
            if node.tool:
                known = tools[node.tool]
                assert {name for name, one in known.items() if one.required} <= set(node.args)
                for name, value in node.args.items():
                    check(value, known[name], prose)
            else:
                assert {*node.outputs} <= {*form.outputs}
                assert node.prompt in ("", *form.prompts)
            sources |= {node.id, *(f"{node.id}.{field}" for field in fields)}
    assert 1 <= number <= form.nodes


def check(value, argument, prose) -> None:
    if isinstance(value, From):
        return
    if isinstance(value, tuple):
        assert argument.kind == "array"
        return
    if argument.options:
        assert json.dumps(value, ensure_ascii=False) in argument.options
    elif argument.kind == "integer":
        assert argument.least <= value <= argument.most
    elif argument.kind == "string":
        assert value in prose
        assert value
    else:
        assert isinstance(value, {"number": (int, float), "boolean": bool}[argument.kind])


@given(form=FORMS, room=st.integers(0, 4000), bytes_each=st.sampled_from([1, 4]))
def test_less_room_means_fewer_nodes_or_shorter_words_until_there_is_none(form, room, bytes_each):
    sizes = plan_sizes(form, room, bytes_each)
    more = plan_sizes(form, room + 500, bytes_each)
    assert sizes is None or (more is not None and more >= sizes)
    assert plan_sizes(form, 1_000_000, bytes_each) == (form.nodes, 240)


def test_the_bundled_form_writes_no_plans(encoder_path, model):
    assert plan_writer(load_model(encoder_path, home_path=None)) is None
    assert plan_writer(model) is model
    assert model.plan_grammar.startswith("plan_tree@1 sha256:")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("architecture", "vocabulary"),
    [("llama", "llama-spm"), ("llama", "llama-bpe"), ("qwen2", "qwen2"), ("llama", "deepseek-llm")],
)
def test_real_vocabularies_write_plans_that_can_be_read(real_chat_path, architecture, vocabulary):
    model = load_model(real_chat_path(architecture, vocabulary), home_path=None)
    path = PlanArgument("path", "string", required=True)
    lines = PlanArgument("lines", "integer", required=False, least=1, most=400)
    tool = PlanTool("matrix://tool/fs/read@1.0.0", "Reads a file", (path, lines), ("text", "bytes"))
    form = PlanForm("any", "Reads files", "find", (("folder", "notes"),), (tool,), ("x:sum",), ("report",), 6)
    for prose in ('läs "noter.txt" i mappen 漢字', "read a.txt and b.txt, then sum them up"):
        plan = read_plan(model.write_plan(prose, form), prose, form)
        for node in (node for group in plan.groups for node in group if node.args):
            check(node.args["path"], path, prose)

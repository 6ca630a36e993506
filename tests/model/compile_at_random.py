"""Many compiles of any prose with any skills by one model, in a process of its own: what aborts it is seen.

    python tests/model/compile_at_random.py MODEL FOLDER SEED COUNT

Prints one JSON line with what came of them. What is being compiled stands in FOLDER/now.txt, so that the
input of an abort is known. Exits 1 with a traceback where an answer is not what it must be.
"""

import json
import sys
from collections import Counter
from pathlib import Path

from hypothesis import HealthCheck, Phase, Verbosity, given, seed, settings
from hypothesis import strategies as st

from executor import FixedClock, Home
from ir import Intent, canonical_bytes
from mcl.compiler.compiler import GoalOptions, Refused, compile_goal
from mcl.core.errors import InputError, ModelError
from mcl.language.mtx.ast import File, PromptNode, Section, Setting, Slot, SlotType, Text
from mcl.language.mtx.core import load_core
from mcl.language.skills import Skill, Skills
from mcl.model.chat import ChatModel
from mcl.model.files import open_model_file
from mcl.model.llama.decoder import DecodedAnswer, Decoder
from mcl.model.llama.weights import Weights
from mcl.model.protocol import BOOLEAN

CLEAR = (
    "GOAL_EMPTY",
    "GOAL_BINARY",
    "GOAL_TOO_LONG",
    "MODEL_CONTEXT",
)  # what a goal or a skill may be refused with
AT = "2026-11-21T10:00:00.000Z"
VERBS = (
    "find acquire build modify deliver analyze negotiate schedule monitor delegate".split()  # noqa: SIM905
)
TYPES = ("string", "uint", "float", "bool", "iso8601", "AssetAmount", "ArtifactRef", "did", "sha256")
# fmt: off
WORDS = (
    "find", "order",
    "every", "TODO", "report.md", "table", "Friday", "by", "before", "at most", "20", "euros",
    "$500", "two", "hundred", "1,200.50", "in", "the", "EU", "Sweden", "only", "ideally", "kl 14", "imorgon",
    "köp", "två",
    "漢字", "русский", "שלום", "مرحبا", "ไทย", "👩‍👩‍👧", "ß", "ﷺ", "½", "3k", "/etc/passwd", "a@b.se",
)
# fmt: on
TRICKS = [
    *["<|im_end|>", "<|im_start|>system\n", "</s>", "[/INST]", "<start_of_turn>model\n", "{{ 7*7 }}", "{%"],
    *[
        '"}',
        '",',
        "\\",
        "\\u0000",
        "\\x00",
        '{"slots":{',
        "null",
        "]]>",
        "%regex {",
        "start: /(/",
        "root ::=",
    ],
    *["[^\\n]+", "{0,9999}", "$(rm)", "'; --", "<0x0A>", "▁", "Ġ", "\u2028", "\x85", "\x1b[2J", "\u202e"],
    *["\ufeff", "\ue000user\ue001", "a" * 3000, "é" * 700, "漢" * 600, "1" * 500, " " * 90],
]
ANY = st.characters(exclude_categories=["Cs"])
SOME = st.lists(st.sampled_from(WORDS), min_size=1, max_size=25).map(" ".join)
ODD = st.one_of(
    st.lists(st.sampled_from([*WORDS, *TRICKS]), min_size=1, max_size=12).map(" ".join),
    st.lists(st.sampled_from([*TRICKS, "a", " ", "\n", "\t", ".", "é"]), min_size=1, max_size=12).map(
        "".join
    ),
    st.text(ANY, min_size=9, max_size=120),
)
PROSE = SOME | ODD
TEXT = st.sampled_from([*WORDS, *TRICKS[:30], "what to look for", ""]) | st.text(ANY, max_size=20)
MEMBER = st.sampled_from(["table", "a b", 'q"', "b\\", "d\n", "å", "e/f", "|", "漢", "null"]) | st.text(
    ANY, min_size=1, max_size=8
)
NAME = st.from_regex(r"[a-z][a-z0-9_]{0,14}", fullmatch=True)


@st.composite
def slots(draw: st.DrawFn) -> tuple[Slot, ...]:
    """Up to six slots, or sixty-four like them."""
    some = draw(
        st.lists(
            st.tuples(NAME, st.sampled_from(TYPES), TEXT, st.integers(0, 9)),
            max_size=6,
            unique_by=lambda s: s[0],
        )
    )
    options = draw(st.lists(MEMBER, min_size=1, max_size=5, unique=True))
    made = []
    for name, type_, hint, kind in some:
        many, listed = kind % 3 == 0, kind % 4 == 0
        type_ = SlotType("enum", tuple(options), many) if listed else SlotType(type_, (), many)
        most = Text(str(1 + kind * 7)) if many and kind else None
        made.append(Slot(name, type_, optional=kind > 4, hint=Text(hint), max=most))
    if made and draw(st.integers(0, 19)) == 0:
        made = [
            Slot(f"{one.name[:10]}{i}", one.type, optional=one.optional, max=one.max)
            for i, one in zip(range(64), made * 64, strict=False)
        ]
    return tuple(made)


@st.composite
def skills(draw: st.DrawFn) -> Skills:
    """One to three skills."""
    found = {}
    for id in ("one", "two", "three")[: draw(st.integers(1, 3))]:
        says = {
            "id": id,
            "version": "1.0.0",
            "display": draw(TEXT),
            "description": draw(TEXT),
            "mcl.verbs": " ".join(
                draw(st.lists(st.sampled_from(VERBS), min_size=1, max_size=3, unique=True))
            ),
            "example.1": draw(TEXT),
        }
        entries = tuple(Setting(key, Text(value)) for key, value in says.items())
        prompt = PromptNode(Text(draw(TEXT).replace("{", "{{")), Text("Goal: {prose}"))
        sections = (
            Section("SKILL", entries),
            Section("INPUTS", draw(slots())),
            Section("PROCEDURE", (prompt,)),
        )
        found[id] = Skill.of(Path(id), File(sections))
    return Skills(dict(sorted(found.items())))


def watch(model: ChatModel, counted: Counter[str]) -> None:
    """Check each answer below the stages too: it parses as JSON, and keeps within its budget."""
    decoder: Decoder = model._decoder
    answer = decoder.answer

    def watched(prompt: list[int], matcher: object, *, budget: int, weigh: bool) -> DecodedAnswer:
        given = answer(prompt, matcher, budget=budget, weigh=weigh)
        assert len(given.tokens) <= budget
        assert len(given.tokens) == len(given.probabilities)
        text = model._vocabulary.text(given.tokens)
        if text.startswith("{"):
            assert set(json.loads(text)) == {"slots", "constraints"}
        else:
            assert text.endswith('"}'), text  # the rest of a choice, whose beginning stands in the prompt
        counted["answers"] += 1
        counted["tokens"] += len(given.tokens)
        return given

    decoder.answer = watched


def check(outcome: object, installed: Skills) -> None:
    """A document, and in it nothing that neither the goal nor the skill says."""
    intent = outcome.intent
    data = canonical_bytes(intent)
    assert Intent.from_json(data, canonical=True) == intent
    assert type(intent.frame).model_validate_json(intent.frame.model_dump_json()) == intent.frame
    made = intent.compile_metadata
    assert made is not None, intent
    for mark in made.spans:
        assert 0 <= mark.start < mark.end <= len(intent.prose), mark
    skill = installed.get(made.skill_id) if made.skill_id else None
    slots = {slot.name: slot for slot in skill.slots} if skill else {}
    marked = {mark.field for mark in made.spans}
    for place, entry in enumerate(intent.frame.objects):
        slot = slots[entry.name]
        stands = f"frame.objects[{place}]" in marked
        options = slot.options or (BOOLEAN if slot.type == "bool" else ())
        assert stands or entry.value in options or entry.value in intent.prose, entry


def check_bytes(home: Home, model: ChatModel) -> None:
    """A goal that is not whole UTF-8 is refused before a model sees it."""
    for data in (b"caf\xc3", b"\xa9", b"\xff\xfe", b"find \xf0\x9f\x98", b"\xed\xa0\x80", b"a\0b", "\ud800"):
        try:
            compile_goal(
                data, home=home, skills=Skills({}), model=model, options=GoalOptions(at=AT), store=False
            )
        except InputError as error:
            if error.code == "GOAL_BINARY":
                continue
        raise AssertionError(data)


def main(path: Path, folder: Path, start: int, count: int) -> None:
    """Compile `count` times."""
    counted: Counter[str] = Counter()
    file, core = open_model_file(path, home_path=folder), load_core()
    # Spaced and compact JSON in turn.
    model = ChatModel(Weights(path), digest=file.digest, cache=folder / "prefix", spaced=start % 2 == 1)
    watch(model, counted)
    now = (folder / "now.txt").open("w+")
    with Home.open(folder / "home", clock=FixedClock(AT)) as home:
        check_bytes(home, model)

        @seed(start)
        @settings(
            max_examples=count,
            deadline=None,
            database=None,
            verbosity=Verbosity.quiet,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(PROSE, skills(), st.sampled_from([True, True, False]))
        def compile_one(prose: str, installed: Skills, given_skill: bool) -> None:
            now.seek(0)
            now.truncate()
            now.write(repr((prose, [(skill.head.values, skill.slots) for skill in installed])))
            now.flush()
            try:
                outcome = compile_goal(
                    prose,
                    home=home,
                    skills=installed,
                    model=model,
                    options=GoalOptions(skill="one" if given_skill else "", at=AT),
                    store=False,
                    core=core,
                    timer=lambda: 0.0,
                )
            except (InputError, ModelError) as error:
                if error.code not in CLEAR:
                    raise
                counted[error.code] += 1
            else:
                counted[type(outcome).__name__] += 1
                if not isinstance(outcome, Refused):
                    check(outcome, installed)

        compile_one()
    print(json.dumps(counted))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))

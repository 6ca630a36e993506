"""The linear member of a model file: what it says of skills by name, and what a damaged one does."""

import json
import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcl.core.errors import ModelError
from mcl.language.skills import find_skills, skill_folders
from mcl.model.loader import bundled_path, load_model
from mcl.model.protocol import Acquainted, Candidate
from mcl.model.skill_classifier import MAGIC, RARITY_UNIT, ZERO, SkillClassifier, buckets_of, features, packed

BUCKETS = 64
WIDTH = 4
NOWHERE = np.zeros(WIDTH, np.float32)
NORTH = np.array([1, 0, 0, 0], np.float32)
ALARM, BALANCE, ORDER = "set an alarm at seven", "what is my balance", "order some paper"
GOALS = {"alarm": ALARM, "balance": BALANCE, "order": ORDER, "order2": "order food"}


def row(
    name: str, source: str = "a", told: str = "", scale: float = 0.1, bias: float = -1.0
) -> dict[str, object]:
    keys = {"names": [name], "told": [told] if told else [], "source": source}
    return keys | {"scale": scale, "stretch": 0.01, "bias": bias}


def member(
    classes: list[dict[str, object]], verbs: dict[str, int] | None = None, northern: int = -1
) -> bytes:
    """A member in which each class likes the words of its own goal. northern: the one that also likes
    NORTH."""
    weights = [bytearray([ZERO] * len(classes)) for _ in range(BUCKETS)]
    for place, goal in enumerate(list(GOALS.values())[: len(classes)]):
        for bucket in buckets_of(goal, BUCKETS):
            weights[bucket][place] += 30
    directions = [bytes([100 if place == northern else 0, 0, 0, 0]) for place in range(len(classes))]
    head = {"buckets": BUCKETS, "width": WIDTH, "classes": classes, "verbs": verbs or {}}
    return packed(head, bytes([RARITY_UNIT] * BUCKETS), [bytes(one) for one in weights], directions)


@pytest.fixture
def opened(tmp_path: Path) -> Callable[..., SkillClassifier]:
    def open_(data: bytes, before: bytes = b"tensors", size: int | None = None) -> SkillClassifier:
        path = tmp_path / "model.gguf"
        path.write_bytes(before + data)
        return SkillClassifier(path, len(data) if size is None else size)

    return open_


def asked(id: str, display: str = "", description: str = "") -> Candidate:
    return Candidate(id, display or id, description, ("find",))


TAUGHT = [
    row("setalarm", told="wakesyouup"),
    row("checkbalance"),
    row("order", source="a"),
    row("order", source="b"),
]


def test_a_goal_is_for_the_skill_that_was_taught_it(opened: Callable[..., SkillClassifier]) -> None:
    familiar = opened(member(TAUGHT))
    alarm, balance = familiar.margins(ALARM, NOWHERE, [asked("set_alarm"), asked("check-balance")])
    assert alarm is not None
    assert balance is not None
    assert alarm > balance
    alarm, balance = familiar.margins(BALANCE, NOWHERE, [asked("set_alarm"), asked("check-balance")])
    assert alarm is not None
    assert balance is not None
    assert balance > alarm


@pytest.mark.parametrize(
    ("id", "display", "description"),
    [
        ("set_alarm", "", ""),
        ("SetAlarm", "", ""),
        ("matrix://skill/set-alarm@1.0.0", "", ""),
        ("Clock_1.x", "Set alarm", "something that nobody taught"),
        ("x1", "y", "Wakes you up."),
    ],
)
def test_a_skill_is_known_by_its_name_however_spelled_or_by_its_description(
    opened: Callable[..., SkillClassifier], id: str, display: str, description: str
) -> None:
    (margin,) = opened(member(TAUGHT)).margins(ALARM, NOWHERE, [asked(id, display, description)])
    assert margin is not None


@pytest.mark.parametrize(
    "one",
    [
        asked("brew-coffee"),
        asked("order", "Order", "Orders spare parts for the Volvo"),
        asked("1"),
        asked("日本"),
    ],
)
def test_of_a_skill_that_was_not_taught_nothing_is_said(
    opened: Callable[..., SkillClassifier], one: Candidate
) -> None:
    assert opened(member(TAUGHT)).margins(ALARM, NOWHERE, [one]) == (None,)


def test_of_two_skills_of_one_name_that_counts_whose_catalogue_is_offered(
    opened: Callable[..., SkillClassifier],
) -> None:
    classes = [
        row("alarm", source="b"),
        row("balance", source="a"),
        row("order", source="a"),
        row("order", source="b"),
    ]
    familiar = opened(member(classes))
    of_a = familiar.margins(ORDER, NOWHERE, [asked("order"), asked("balance")])[0]
    of_b = familiar.margins(ORDER, NOWHERE, [asked("order"), asked("alarm")])[0]
    assert of_a is not None
    assert of_b is not None
    assert of_a > of_b


def test_verbs_that_were_taught_are_told_apart(opened: Callable[..., SkillClassifier]) -> None:
    familiar = opened(member(TAUGHT[:2], {"schedule": 0, "find": 1}))
    assert familiar.verbs(ALARM, NOWHERE)["schedule"] > familiar.verbs(ALARM, NOWHERE)["find"]
    assert opened(member(TAUGHT)).verbs(ALARM, NOWHERE) == {}


def test_a_goal_is_for_the_skill_that_its_vector_is_like(opened: Callable[..., SkillClassifier]) -> None:
    familiar = opened(member(TAUGHT, northern=1))
    for vector, difference in ((NOWHERE, 0.0), (NORTH, 1.0), (-NORTH, -1.0)):
        (found,) = familiar.margins(ALARM, vector, [asked("check-balance")])
        (other,) = familiar.margins(ALARM, NOWHERE, [asked("check-balance")])
        assert found is not None
        assert other is not None
        assert found - other == pytest.approx(difference)


def test_a_margin_is_what_the_formula_says(opened: Callable[..., SkillClassifier]) -> None:
    (margin,) = opened(member(TAUGHT)).margins(ALARM, NOWHERE, [asked("set_alarm")])
    number = len(buckets_of(ALARM, BUCKETS))
    assert margin == 0.1 * (RARITY_UNIT * 30 * number) / (number * RARITY_UNIT**2) ** 0.5 - 1.0


@given(st.text(max_size=300))
def test_any_text_has_features_in_small_letters_and_buckets_within_bounds(prose: str) -> None:
    assert buckets_of(prose, BUCKETS) == sorted(set(buckets_of(prose, BUCKETS)))
    assert all(0 <= bucket < BUCKETS for bucket in buckets_of(prose, BUCKETS))
    assert bool(features(prose))


@pytest.fixture(scope="module")
def bundled() -> Acquainted:
    model = load_model(bundled_path(), home_path=None)
    assert isinstance(model, Acquainted)
    return model


SHIPPED = [
    Candidate(one.id, one.display, one.description, one.verbs)
    for one in find_skills(skill_folders(None)[:1])  # those that the model was taught by name
    if not one.takes_any
]


@settings(deadline=None)
@given(st.text(max_size=4000))
def test_any_prose_gets_a_margin(bundled: Acquainted, prose: str) -> None:
    for margin in bundled.margins(prose, SHIPPED):
        assert margin is not None
        assert -50 < margin < 50


@pytest.mark.parametrize(
    "damage",
    ["head", "short", "long", "begin", "json", "verb", "buckets", "width", "scale", "stretch", "classes"],
)
def test_a_damaged_member_is_an_error_with_a_code(
    opened: Callable[..., SkillClassifier], damage: str
) -> None:
    data = member(TAUGHT[:2], {"find": 1})
    at = len(MAGIC) + 4
    (length,) = struct.unpack_from("<I", data, len(MAGIC))
    head = json.loads(data[at : at + length])
    if damage in ("verb", "buckets", "width", "scale", "stretch", "classes"):
        if damage == "verb":
            head["verbs"]["find"] = 2
        elif damage == "buckets":
            head["buckets"] = 0
        elif damage == "width":
            head["width"] = WIDTH + 1
        elif damage == "scale":
            head["classes"][0]["scale"] = "1"
        elif damage == "spread":
            head["classes"][0]["stretch"] = float("inf")
        else:
            head["classes"] = {"a": 1}
        data = packed(head, data[at + length :], [], [])
    changed = {
        "head": data[: len(MAGIC)] + b"\xff\xff\xff\xff" + data[at:],
        "short": data[:-1],
        "long": data + b"x",
        "begin": b"x" + data[1:],
        "json": data[:at] + b"[" + data[at + 1 :],
    }.get(damage, data)
    with pytest.raises(ModelError) as caught:
        opened(changed)
    assert caught.value.code == "MODEL_BROKEN"
    assert "--no-ai" in caught.value.fix


@given(st.binary(max_size=200), st.integers(0, 300))
def test_any_bytes_are_a_member_or_an_error(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, size: int
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.gguf"
    path.write_bytes(b"." + MAGIC + data)
    with pytest.raises(ModelError):
        SkillClassifier(path, size)


def test_a_file_that_is_gone_is_an_error_with_a_code(tmp_path: Path) -> None:
    with pytest.raises(ModelError) as caught:
        SkillClassifier(tmp_path / "none.gguf", 10)
    assert caught.value.code == "MODEL_MISSING"


def test_the_bundled_model_knows_the_shipped_skills_by_name(bundled: Acquainted) -> None:
    assert None not in bundled.margins("find the word invoice in my notes", SHIPPED)
    assert bundled.margins("find the word invoice", [asked("blow-up", "Blow up", "Blows things up")]) == ()

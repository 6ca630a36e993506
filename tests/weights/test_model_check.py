"""A model is measured on questions with known answers; what a small chat model may not fill stays empty."""

from __future__ import annotations

import pytest

from mcl.model.loader import load_model
from mcl.model.protocol import ExtractForm, SlotForm
from tests.cli.conftest import Shell
from tests.model.random_gguf import small_words, write_gguf

LIMITED = "write a note about the roof by friday for at most 50 euro"


@pytest.fixture
def chat(tmp_path):
    return write_gguf(tmp_path / "chat.gguf", small_words(), layers=1, seed=11)


def test_the_bundled_model_chooses_and_fills_and_does_not_write(mcl: Shell):
    done = mcl("model", "check", "bundled", "--json")
    assert done.code == 0
    exam = done.document["exam"]
    assert [one["part"] for one in exam["parts"] if not one["able"]] == ["write", "plan"]
    assert "choose" in done.document["good_for"]
    assert {one["part"] for one in exam["answers"]} == {"choose", "fill"}


def test_a_model_of_random_weights_is_good_for_nothing(mcl: Shell, chat):
    done = mcl("model", "check", str(chat), "--part", "choose", "--part", "write")
    assert done.code == 4
    assert done.out.count("not good enough") == 2
    assert (
        mcl("model", "check", "bundled", "--part", "sing", "--json").document["error"]["code"]
        == "PART_UNKNOWN"
    )
    assert mcl("model", "check", "nobody", "--json").document["error"]["code"] == "MODEL_UNKNOWN"


def test_a_small_chat_model_fills_no_limits(chat):
    model = load_model(chat, home_path=None)
    form = ExtractForm("note", "Writes a note", (SlotForm("note", "string", "what to write"),))
    assert {span.field for span in model.extract(LIMITED, form)} <= {"slot.note"}

"""A model is fetched from a hub after it was shown, goes on where it ended, and is held to its digest."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Shell
from tests.model.random_gguf import small_words, write_gguf
from tests.weights.hub_server import COMMIT, Hub, serving

REPO = "somebody/tiny-chat-GGUF"


@pytest.fixture(scope="module")
def weights(tmp_path_factory) -> bytes:
    return write_gguf(
        tmp_path_factory.mktemp("w") / "tiny.gguf", small_words(), layers=1, seed=3
    ).read_bytes()


@pytest.fixture
def hub(weights, monkeypatch, tmp_path):
    with serving(Hub(REPO, {"tiny.Q4_K_M.gguf": weights, "README.md": b"# tiny"})) as running:
        monkeypatch.setenv("HF_ENDPOINT", running.endpoint)
        monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "cache"))
        yield running


def fetched(hub: Hub) -> list[tuple[str, str]]:
    return [(path, span) for verb, path, span in hub.asked if verb == "GET" and "/resolve/" in path]


def test_it_is_shown_before_the_first_byte_and_a_no_fetches_nothing(mcl: Shell, hub):
    said = mcl.fed(b"n\n", "model", "get", f"hf:{REPO}")
    assert said.code == 4
    for text in (hub.endpoint.removeprefix("http://"), "tiny.Q4_K_M.gguf", "apache-2.0", COMMIT):
        assert text in said.out + said.err
    assert "nothing was fetched" in said.err
    assert not fetched(hub)
    assert [one["name"] for one in mcl("model", "list", "--json").document["models"]] == [
        "bundled",
        "no-ai",
    ]


def test_it_is_added_with_its_digest_and_no_token_is_sent(mcl: Shell, hub, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    done = mcl("model", "get", f"hf:{REPO}:q4_k_m", "--yes", "--name", "tiny", "--use", "--json")
    assert done.code == 0
    told = done.document
    assert (told["model"]["name"], told["model"]["digest"]) == ("tiny", told["offered"]["sha256"])
    assert told["offered"]["revision"] == COMMIT
    assert not hub.tokens
    assert mcl("model", "list", "--json").document["models"][2]["in_use"]
    before = len(fetched(hub))
    assert mcl("model", "get", f"hf:{REPO}", "--yes").code == 0
    assert len(fetched(hub)) == before  # it is here


def test_an_interrupted_fetch_goes_on_where_it_ended(mcl: Shell, hub, weights, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.DOWNLOAD_CHUNK_SIZE", 1024)
    hub.breaks = len(weights) // 2
    assert mcl("model", "get", f"hf:{REPO}", "--yes").code == 0
    spans = [span for _, span in fetched(hub)]
    assert spans[-1] == f"bytes={len(weights) // 2 // 1024 * 1024}-"


def test_other_bytes_than_were_offered_are_removed(mcl: Shell, hub, tmp_path):
    hub.wrong = True
    done = mcl("model", "get", f"hf:{REPO}", "--yes", "--json")
    assert (done.code, done.document["error"]["code"]) == (2, "HUB_DIGEST")
    assert not [
        path for path in Path(tmp_path / "cache").rglob("*") if path.is_file() and path.stat().st_size > 1000
    ]


@pytest.mark.parametrize(
    ("address", "code"),
    [
        ("https://example.org/x.gguf", "HUB_ADDRESS"),
        ("hf:../../etc", "HUB_ADDRESS"),
        ("hf:somebody/else", "HUB_NO_MODEL"),
        (f"hf:{REPO}:q8", "HUB_FILE"),
    ],
)
def test_what_cannot_be_had_is_told(mcl: Shell, hub, address, code):
    done = mcl("model", "get", address, "--yes", "--json")
    assert done.document["error"]["code"] == code
    assert done.document["error"]["fix"]


def test_several_files_are_listed_with_their_sizes(mcl: Shell, hub, weights):
    hub.files["tiny.Q8_0.gguf"] = weights
    error = mcl("model", "get", f"hf:{REPO}", "--yes", "--json").document["error"]
    assert error["code"] == "HUB_FILE"
    assert "tiny.Q4_K_M.gguf (" in error["fix"]


def test_a_closed_repository_says_where_to_agree(mcl: Shell, hub):
    hub.gated = True
    error = mcl("model", "get", f"hf:{REPO}", "--yes", "--json").document["error"]
    assert error["code"] == "HUB_CLOSED"
    assert "--signed-in" in error["fix"]


def test_offline_and_out_of_reach_say_so(mcl: Shell, hub, monkeypatch):
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    assert mcl("model", "get", f"hf:{REPO}", "--yes", "--json").document["error"]["code"] == "HUB_UNREACHABLE"
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    assert mcl("model", "get", f"hf:{REPO}", "--yes", "--json").document["error"]["code"] == "HUB_OFFLINE"

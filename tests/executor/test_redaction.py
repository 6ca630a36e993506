"""Secrets and terminal escapes taken out of text."""

from __future__ import annotations

import time

import pytest

from executor.sandbox.redaction import Redactor, visible
from ir import KEY_SHAPES

KEY = "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nabc\n-----END RSA PRIVATE KEY-----"
SECRETS = [
    KEY,
    "AKIA" + "ABCDEFGHIJKLMNOP",
    "ghp_" + "a1B2" * 10,
    "github_pat_" + "a1B2" * 12,
    "glpat-" + "a1B2c3D4e5F6g7H8i9J0",
    "xoxb-" + "123456789012-abcdef",
    "sk-" + "a1B2" * 8,
    "AIza" + "b" * 35,
    "npm_" + "c" * 36,
    "pypi-" + "d" * 60,
    "sk_live_" + "e" * 24,
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P",
    "-----BEGIN OPENSSH PRIVATE KEY-----\ncut short in the middl",
    "Bearer abcdefghijklmnopqrstuvwx",
    "postgres://ada:correct-horse@db.example.org/x",
    "SG." + "q8WnR4tY7uKpL2xVb9sDcg" + "." + "a1B2c3D4" * 5 + "xyz",
    "AccountKey=" + "a1B2c3D4e5" * 8 + "abcdef==",
    "7482910365" + ":AA" + "q8WnR4tY7uK" * 3,
    "api.telegram.org/bot7482910365" + ":AA" + "q8WnR4tY7uK" * 3,
    "https://hooks.slack.com/services" + "/T7K2PQ9RM/B4W8ZL3XN/q8WnR4tY7uKpL2xVb9sDc5Fg",
    "Authorization: Basic " + "dXNlcjpwYXNz",
    "AWS_SECRET_ACCESS_KEY=" + "kU7/vRz2qT9LmXw4PfHs8YdNc3Bj6GaEoZi1K5tD",
    "api_key=" + "q8WnR4tY7uKp",
    "X-Api-Key: " + "q8WnR4tY7uKpL2xVb9sDc5Fg",
    'client_secret = "' + 'Zx9-Kq8WnR4tY7uKpL2xVb"',
]
WORDS = [
    *("the api key is in the vault", "password: see below", "token: required", "max_tokens=4096"),
    *("token=self.tokens[0]", "secret = os.environ['X1']", "password=hunter2", "Basic infrastructure work"),
    *("api_key=your-api-key-1", "secret: production-database-credentials", "password=$PASSWORD1"),
    *("a token budget of 12000tokens", "the secret: it is the same everywhere", "token_url=https"),
]


@pytest.mark.parametrize("secret", SECRETS)
def test_known_shapes_of_secrets_are_taken_out_wherever_they_stand(secret: str) -> None:
    shown = Redactor().value({"a": [f"before {secret} after"], secret: 1})
    assert secret not in str(shown)
    assert "[redacted: " in str(shown)
    assert "before" in str(shown)


def test_every_pattern_of_ir_has_a_secret_here_that_it_finds() -> None:
    for shape in KEY_SHAPES:
        assert any(shape.find(secret) for secret in SECRETS), shape.id


@pytest.mark.parametrize("text", WORDS)
def test_words_about_secrets_are_none(text: str) -> None:
    assert Redactor().text(f"see: {text}, and go on") == f"see: {text}, and go on"


def test_the_whole_of_a_private_key_goes_not_only_its_first_line() -> None:
    assert Redactor().text("a\n" + KEY + "\nb") == "a\n[redacted: private key]\nb"


def test_values_of_variables_named_as_secrets_are_taken_out_and_others_stay() -> None:
    redactor = Redactor(
        {
            "MY_API_KEY": "hunter2hunter2",
            "DB_PASSWORD": "horse+(battery",
            "EDITOR": "/usr/bin/vim",
            "PIN_TOKEN": "short",
            "SSH_AUTH_SOCK": "/tmp/agent.sock",
            "MONKEY": "banana-banana",
            "PGPASSWORD": "correct-staple",
            "MYSQL_PWD": "tr0ub4dor&3",
        }
    )
    assert redactor.text("correct-staple") == redactor.text("tr0ub4dor&3") != "tr0ub4dor&3"
    text = "hunter2hunter2 horse+(battery /usr/bin/vim short /tmp/agent.sock banana-banana"
    named = "[redacted: value of the environment]"
    assert redactor.text(text) == f"{named} {named} /usr/bin/vim short /tmp/agent.sock banana-banana"


def test_ordinary_text_and_hashes_stay_as_they_are() -> None:
    text = "commit 3cc0021f a task-list sk-learn https://example.org/a:b@c 0123456789abcdef" * 3
    assert Redactor().text(text) == text


def test_redaction_takes_time_in_proportion_to_the_text() -> None:
    redactor = Redactor()
    texts = [
        "-----BEGIN PRIVATE KEY-----" * 20_000,
        "a:" * 200_000,
        "eyJ" * 100_000,
        "-eyJAAAAAAAA" * 20_000,
        "://a:b" * 60_000,
        "SG." * 100_000,
        "SG.aaaaaaaaaaaaaaaaaaaaaa." * 10_000,
        "0123456789:AA" * 20_000,
        "AccountKey=" * 30_000,
        "hooks.slack.com/services/T1234567/B1234567/" * 8_000,
    ]
    started = time.perf_counter()
    for text in texts:
        redactor.text(text)
    assert time.perf_counter() - started < 60  # what grows with the square would take hours


def test_control_and_direction_characters_are_shown_as_escapes() -> None:
    assert visible("a\x1b[31mb\x07\r\n\tc\u202ed\x9b\udc80") == "a\\x1b[31mb\\x07\\r\n\tc\\u202ed\\x9b\\udc80"


@pytest.mark.parametrize(
    "before", ["\\x08", "\\u202e", "\\n", "\\r\\n", "\x1b[32m", "\x1b[1;31m", "\\x1b[m", '"', "=", "\x9b31m"]
)
@pytest.mark.parametrize("token", ["ghp_" + "a1B2" * 9, "AKIA" + "A1B2" * 4, "sk-" + "a1b2" * 8])
def test_a_token_behind_an_escaped_character_or_a_colour_is_a_token(before: str, token: str) -> None:
    redacted = Redactor({}).text(f"the log says {before}{token}\\x1b[0m and goes on")
    assert token not in redacted
    assert "[redacted" in redacted
    assert redacted.startswith(f"the log says {before}")


def test_a_word_that_ends_like_the_beginning_of_a_token_is_a_word() -> None:
    text = "disk-0123456789abcdefghijkl and task-0123456789abcdefghijkl"
    assert Redactor({}).text(text) == text

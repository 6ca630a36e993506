"""What the scan finds in one file, in tests and in a difference, and what it says of itself."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcl.plugins.review.finding import ReviewFinding
from mcl.plugins.review.finding_text import read_findings, write_findings
from mcl.plugins.review.scan.bandit_rules import judged
from mcl.plugins.review.scan.patterns import ScanSource, scan_source

SHOP = """\
import hashlib
import pickle
import random
import subprocess

import requests
import yaml

DEBUG = True


def fetch(url, token):
    assert url
    requests.get(url, verify=False, timeout=3)
    requests.get(url)
    return yaml.load(open("/tmp/x").read())


def run(line, cursor, name):
    subprocess.run(["git", "status"])
    subprocess.run(
        line,
        shell=True,
    )
    cursor.execute("SELECT * FROM users WHERE name = '%s'" % name)
    cursor.execute("SELECT * FROM %s" % name)
    return pickle.loads(line), eval(line)


def login(password: str = "letmein"):
    session_token = random.random()
    return hashlib.md5(password.encode()).hexdigest(), hashlib.md5(b"a")
"""


def found(path: str, text: str, *lines: int) -> list[tuple[str, int, str]]:
    some = scan_source(ScanSource(path, text), lines=frozenset(lines) or None)
    return [(one.rule, one.line, one.severity) for one in some]


def test_python_is_judged_by_its_syntax_tree() -> None:
    assert found("shop/app.py", SHOP) == [
        ("B501", 14, "RISK"),
        ("B113", 15, "NOTE"),
        ("B108", 16, "NOTE"),
        ("B506", 16, "WARNING"),
        ("B602", 23, "RISK"),
        ("B608", 25, "WARNING"),
        ("B608", 26, "NOTE"),
        ("B301", 27, "WARNING"),
        ("B307", 27, "WARNING"),
        ("B107", 30, "NOTE"),
        ("B311", 31, "WARNING"),
        ("B324", 32, "WARNING"),
    ]


def test_in_tests_and_examples_nothing_blocks_and_what_tests_are_made_of_is_not_told() -> None:
    for path in ("tests/app.py", "shop/test_app.py", "docs/app.py", "examples/shop/app.py"):
        some = found(path, SHOP)
        assert {severity for _, _, severity in some} == {"NOTE"}
        assert [rule for rule, _, _ in some] == ["B501", "B506", "B602", "B301", "B307", "B324"]


def test_a_finding_says_what_it_is_and_what_to_do_in_the_form_of_findings() -> None:
    some = scan_source(ScanSource("shop/app.py", SHOP))
    for one in some:
        assert one.file == "shop/app.py"
        assert "\nFix: " in one.body
    told = [(one.severity, one.location, one.body) for one in read_findings(write_findings(some)).findings]
    assert told == [(one.severity, one.location, one.body) for one in some]


def test_no_comment_and_no_configuration_silences_the_scan(tmp_path: Path) -> None:
    (tmp_path / ".bandit").write_text("[bandit]\nskips: B602\n")
    (tmp_path / "pyproject.toml").write_text('[tool.bandit]\nskips = ["B602"]\n')
    text = "import subprocess\nsubprocess.run(line, shell=True)  # nosec B602\n# bandit: skip-file\n"
    assert found("app.py", text) == [("B602", 2, "RISK")]


def test_a_difference_is_told_what_its_lines_have_to_do_with() -> None:
    assert found("app.py", SHOP, 14) == [("B501", 14, "RISK")]
    assert found("app.py", SHOP, 21, 22) == [("B602", 21, "RISK")]  # the call begins there
    assert found("app.py", SHOP, 22) == [("B602", 22, "RISK")]
    assert found("app.py", SHOP, 31, 33) == [("B311", 31, "WARNING")]
    assert found("app.py", SHOP, 1, 2, 3) == []


def test_python_that_is_none_is_searched_by_patterns_and_said() -> None:
    text = "import os\nprint 'hello'\nos.system('rm ' + name)\n"
    [said, shell] = scan_source(ScanSource("old.py", text))
    assert (said.rule, said.severity, said.line) == ("scan-unparsed", "NOTE", 2)
    assert said.body.startswith("This is no Python 3.")
    assert (shell.rule, shell.line) == ("py-shell", 3)
    assert found("old.py", text, 3) == [("py-shell", 3, "WARNING"), ("scan-unparsed", 3, "NOTE")]
    assert ("py-shell", 3, "WARNING") not in found("new.py", text.replace("print 'hello'", "pass"))


@pytest.mark.parametrize("text", ["x = 1\0", "x = '\ud800'", "\x00", "def f(:\n", "x = " + "9" * 5000])
def test_what_cannot_be_parsed_never_passes_in_silence(text: str) -> None:
    assert "scan-unparsed" in {rule for rule, _, _ in found("a.py", text)}
    assert found("a.py", f"a = 1\nb = 2\n{text}", 2) == [("scan-unparsed", 2, "NOTE")]


def test_a_rule_that_fails_is_said_and_the_others_go_on() -> None:
    text = "import importlib, subprocess\nimportlib.import_module()\nsubprocess.run(line, shell=True)\n"
    said = {one.rule: one for one in scan_source(ScanSource("a.py", text))}
    assert said["B602"].severity == "RISK"
    assert (said["scan-failed"].line, said["scan-failed"].severity) == (2, "NOTE")
    assert "B001" in said["scan-failed"].body


def test_one_rule_is_told_twenty_times_a_file_and_then_that_there_is_more() -> None:
    some = scan_source(ScanSource("a.py", "eval(x)\n" * 100))
    assert [one.rule for one in some] == ["B307"] * 20 + ["scan-more"]
    assert (some[-1].line, some[-1].severity) == (21, "WARNING")
    assert [one.line for one in scan_source(ScanSource("a.py", "eval(x)\n" * 100), lines={90})] == [90]


def test_a_secret_is_never_part_of_what_is_said() -> None:
    value = "q8WnR4tY7uKpL2xVb9sDc5Fg"
    text = f'api_key = "{value}"\npassword = "{value}"\ndef f(password="{value}"): g(password="{value}")\n'
    for path in ("a.py", "a.js", "a.yml", "tests/a.py"):
        some = scan_source(ScanSource(path, text))
        assert some
        assert value not in json.dumps([one.to_json() for one in some])
    assert [one.rule for one in scan_source(ScanSource("a.py", text))] == ["secret-assigned"] * 3


def test_what_a_comment_says_does_not_make_it_worse() -> None:
    assert found("a.py", "import random\nx = random.random()  # no secret\n") == [("B311", 2, "NOTE")]
    assert found("a.py", "import random\nsecret = random.random()\n") == [("B311", 2, "WARNING")]


def test_line_ends_of_every_kind_count() -> None:
    for end in ("\n", "\r\n", "\r"):
        assert found("a.py", f"\ufeffx = 1{end}eval(y){end}") == [("B307", 2, "WARNING")]
        assert found("a.js", f"x = 1{end}eval(x){end}") == [("js-eval", 2, "WARNING")]


PIECES = st.sampled_from(
    [
        "eval(",
        ")",
        "\n",
        "\r",
        "import os\n",
        "os.system(x)",
        "'",
        '"',
        "    ",
        "def f():\n",
        "#",
        "\0",
        "é",
        "\u202e",
    ]
)


@given(
    st.lists(PIECES | st.characters(), max_size=30).map("".join),
    st.sampled_from(["a.py", "a.sh", "Dockerfile"]),
)
def test_any_text_gives_findings_on_its_lines_and_the_same_ones_again(text: str, path: str) -> None:
    some = scan_source(ScanSource(path, text))
    assert some == scan_source(ScanSource(path, text))
    rows = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").count("\n") + 1
    assert all(1 <= one.line <= rows and isinstance(one, ReviewFinding) for one in some)
    assert {one.severity for one in some} <= {"RISK", "WARNING", "NOTE"}


@given(st.lists(PIECES, max_size=30).map("".join), st.sets(st.integers(1, 12)))
def test_a_difference_is_told_its_own_lines_only(text: str, lines: set[int]) -> None:
    rows = text.replace("\r\n", "\n").replace("\r", "\n").count("\n") + 1
    some = scan_source(ScanSource("a.py", text), lines=lines)
    if lines & set(range(1, rows + 1)):
        assert {one.line for one in some} <= lines


EXAMPLES = """\
import ftplib, jinja2, marshal, random, tarfile, tempfile, telnetlib, xml.etree.ElementTree as ET
import subprocess as sp
from os import popen as p, system
from cryptography.hazmat.primitives.ciphers import modes
from django.utils.safestring import mark_safe
try:
    sp.Popen("ls " + x, shell=True)
except:
    pass
class A:
    def f(self, password="secret"):
        for i in x:
            try: p("a" + i)
            except Exception: continue
        return f"select * from {a}", "delete from %s" % b, mark_safe("<b>%s" % c), mark_safe("a")
async def g(): return await h(0o777, ET.parse(x)), tempfile.mktemp(), sp.call(["tar", "*"], shell=True)
os.chmod("a", 0o777); exec("a"); jinja2.Environment(); tarfile.open(a).extractall(); app.run(debug=True)
x = {"password": "a", "token": ["0.0.0.0", "/tmp/a"]}; x["secret"] = "b"; assert x == "pass"
__import__("pickle"); s = ("insert into a values " + "(%s)" % x); modes.ECB(); marshal.loads(x)
q = "select * from a where b = " \\
    + c + " and d " + e
"""


def test_bandit_finds_the_same_in_the_same_lines(tmp_path: Path) -> None:
    for name, text in (("shop.py", SHOP), ("examples.py", EXAMPLES)):
        place = tmp_path / name
        place.write_text(text)
        program = (sys.executable, "-m", "bandit", "-q", "--ignore-nosec", "-f", "json", str(place))
        ran = subprocess.run(program, capture_output=True, env={"HOME": str(tmp_path)}, cwd=tmp_path)
        theirs = [
            (one["test_id"], one["line_number"], one["issue_severity"], one["issue_confidence"])
            for one in json.loads(ran.stdout)["results"]
        ]
        ours = [(one.rule, one.line, one.severity, one.confidence) for one in judged(text).issues]
        assert sorted(ours) == sorted(theirs)
        assert len(ours) > 10


def test_nothing_is_loaded_before_python_is_judged_and_nothing_is_written(tmp_path: Path) -> None:
    """The rules of bandit come without stevedore's cache in the home, and without the rules of strangers."""
    strange = tmp_path / "site" / "strange-1.0.dist-info"
    strange.mkdir(parents=True)
    (strange / "METADATA").write_text("Name: strange\nVersion: 1.0\n")
    (strange / "entry_points.txt").write_text("[bandit.plugins]\nstrange = strange:rule\n")
    (tmp_path / "site" / "strange.py").write_text("raise SystemExit('loaded')\n")
    code = (
        "import sys, warnings; form = warnings.formatwarning\n"
        "from mcl.plugins.review.scan.patterns import ScanSource, scan_source\n"
        "scan_source(ScanSource('a.js', 'eval(x)'))\n"
        "assert not {'bandit', 'stevedore', 'rich'} & set(sys.modules)\n"
        "print([one.rule for one in scan_source(ScanSource('a.py', 'eval(x)'))])\n"
        "assert warnings.formatwarning is form\n"
        "assert not any('formatters' in name for name in sys.modules if name.startswith('bandit'))\n"
    )
    environment = {"HOME": str(tmp_path / "home"), "PYTHONPATH": f"{tmp_path / 'site'}:{Path.cwd()}"}
    (tmp_path / "home").mkdir()
    ran = subprocess.run([sys.executable, "-B", "-c", code], capture_output=True, text=True, env=environment)
    assert (ran.stdout, ran.stderr) == ("['B307']\n", "")
    assert list((tmp_path / "home").rglob("*")) == []


def test_python_of_other_kinds_is_searched_by_patterns() -> None:
    assert found("fast.pyx", "cdef int f(x):\n    return eval(x)\n") == [("py-eval", 2, "WARNING")]


def test_no_password_is_none() -> None:
    text = 'PASSWORD = ""\nsettings = {"SECRET_KEY": None}\nif token == "(": pass\npassword = "letmein"\n'
    assert found("a.py", text) == [("B105", 4, "NOTE")]

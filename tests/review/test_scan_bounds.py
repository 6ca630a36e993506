"""Files made to be hard to scan: none crashes the process, takes long, or passes in silence."""

from __future__ import annotations

import subprocess
import sys
import time
from itertools import count

import pytest
from ending import ending

from mcl.plugins.review.scan.patterns import ScanSource, scan_source
from mcl.plugins.review.scan.syntax import MAX_DEPTH


def rules_in(text: str, path: str = "a.py") -> list[str]:
    return [one.rule for one in scan_source(ScanSource(path, text))]


def nested(levels: int) -> str:
    return f"({nested(levels - 1)} + {nested(levels - 1)})" if levels else '"select "'


DEEP = {
    "parentheses": "x = " + "(" * 100_000,
    "signs": "x = " + "-" * 100_000 + "1",
    "not": "x = " + "not " * 50_000 + "1",
    "attributes": "x = a" + ".a" * 50_000,
    "calls": "x = a" + "()" * 50_000,
    "items": "x = a" + "[0]" * 50_000,
    "sums": "x = a" + " + a" * 50_000,
    "conditions": "x = " + "1 if 1 else " * 20_000 + "1",
    "lambdas": "x = " + "lambda: " * 20_000 + "1",
    "folders of ifs": "".join(" " * level + "if 1:\n" for level in range(150)) + " " * 150 + "x",
    "elifs": "if a: pass\n" + "elif a: pass\n" * 20_000,
    "deep enough": "x = " + "-" * (MAX_DEPTH + 10) + "1",
}


@pytest.mark.parametrize("text", DEEP.values(), ids=DEEP.keys())
def test_what_is_nested_deeply_is_said_to_be_and_searched_by_patterns(text: str) -> None:
    some = scan_source(ScanSource("a.py", f"{text}\nos.system(x)\n"))
    assert {one.rule for one in some} & {"scan-unparsed", "scan-bounds"}
    assert "py-shell" in {one.rule for one in some}
    assert {one.severity for one in some if one.rule.startswith("scan-")} == {"NOTE"}


def test_what_people_nest_is_within_the_bounds() -> None:
    text = "x = " + " + ".join(["a"] * 300) + "\n" + "x = " + "(" * 80 + "eval(y)" + ")" * 80 + "\n"
    assert rules_in(text) == ["B307"]


def test_a_file_too_long_or_too_dense_for_a_tree_is_searched_by_patterns() -> None:
    assert rules_in("x = 1\n" * 110_000 + "os.system(x)\n") == ["scan-unparsed", "py-shell"]
    assert rules_in("a;" * 130_000 + "\nos.system(x)\n") == ["scan-unparsed", "py-shell"]


def test_a_list_of_many_texts_takes_no_longer_than_its_length() -> None:
    with ending():  # bandit's own visitor: minutes
        assert rules_in("x = [\n" + '"a",\n' * 50_000 + "]\neval(y)\n") == ["B307"]


def test_variables_that_double_at_each_step_are_given_up() -> None:
    steps = "".join(f"    x{number + 1} = x{number}\n" * 2 for number in range(60))
    text = f"from django.utils.safestring import mark_safe\ndef page():\n{steps}    mark_safe(x60)\n"
    with ending():
        assert rules_in(text) == ["B703"]


def test_a_text_of_many_selects_takes_no_longer_than_its_length() -> None:
    with ending():
        assert rules_in("x = '" + "select " * 80_000 + "'\n") == []
        assert rules_in("x = 'select * " + "a " * 80_000 + " from t' % y\n") == ["B608"]


def test_a_rule_that_takes_its_time_is_given_up_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    from mcl.plugins.review.scan import patterns
    from mcl.plugins.review.scan import syntax as walking

    monkeypatch.setattr(patterns, "MAX_SECONDS", -1.0)
    assert rules_in("eval(x)\n", "a.js") == ["scan-slow"]
    monkeypatch.setattr(walking, "MAX_SECONDS", -1.0)
    assert "scan-bounds" in rules_in("eval(x)\n")


def test_a_busy_machine_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "import os\n" + "os.system(x)\n" * 200
    calm = rules_in(text)
    hours = count(step=3600)
    monkeypatch.setattr(time, "monotonic", lambda: float(next(hours)))
    monkeypatch.setattr(time, "perf_counter", lambda: float(next(hours)))
    assert rules_in(text) == calm == ["B605"] * 20 + ["scan-more"]
    assert rules_in("eval(x)\n", "a.js") == ["js-eval"]


STEPS = {
    "a dictionary": "x = {" + '"password": "a",' * 3_000 + "}",
    "sums": "x = " + " + ".join(['"select "'] * 300) + "\n",
    "sums that are no deeper than they must be": "x = " + nested(10),
    "imports": "".join(f"import m{number}\n" for number in range(900)) + "f()\n" * 900,
    "texts in parts": 'x = f"' + "{a}b" * 3_000 + '"\n',
    "calls in calls": ("f(" * 60 + ")" * 60 + "\n") * 30,
}


@pytest.mark.parametrize("text", STEPS.values(), ids=STEPS.keys())
def test_what_rules_look_at_again_and_again_is_counted(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from mcl.plugins.review.scan import syntax as walking

    assert "scan-bounds" not in rules_in(text)
    monkeypatch.setattr(walking, "MAX_STEPS", 80_000)
    (told,) = (one for one in scan_source(ScanSource("a.py", text)) if one.rule == "scan-bounds")
    assert "not searched within 80,000 steps" in told.body
    assert "scan-bounds" not in rules_in("f(1)\n" * 1_000)


AROUND = {
    "unpacked in one function": (
        "B202",
        "import tarfile\ndef f():\n t = tarfile.open(a)\n" + " t.extractall()\n" * 8_000,
    ),
    "pickled in one function": (
        "B301",
        "import pickle\ndef f():\n" + " x = pickle.dumps(a)\n" * 6_000 + " pickle.loads(x)\n" * 6_000,
    ),
    "names of names": (
        "B102",
        "def f():\n"
        + "".join(f" {one} = {other}\n" * 120 for one, other in ("xy", "yz", "zw"))
        + " w = open(a).read()\n" * 120
        + " exec(x)\n",
    ),
}


@pytest.mark.parametrize(("rule", "text"), AROUND.values(), ids=AROUND.keys())
def test_what_stands_around_is_not_asked_without_end(rule: str, text: str) -> None:
    with ending():
        some = scan_source(ScanSource("a.py", text))
    assert ("WARNING", rule) in {(one.severity, one.rule) for one in some}  # what cannot be told blocks


SLOW = {
    "calls": ("a.py", "f(1)\n" * 40_000),
    "shells": ("a.py", "import os\n" + "os.system(a)\n" * 30_000),
    "imports": ("a.py", "".join(f"import m{number}\n" for number in range(15_000)) + "f()\n" * 15_000),
    "sums of texts": ("a.py", ("x = " + " + ".join(['"select "'] * 300) + "\n") * 100),
    "passwords": ("a.py", "x = {" + '"password": "a",' * 30_000 + "}"),
    "templates": (
        "a.py",
        "import jinja2\n" + ("y = " + "jinja2.Environment(" * 90 + "a" + ")" * 90 + "\n") * 200,
    ),
    "bytes": ("a.bin", "a" * 4_000_000),
    "lines": ("a.js", "\n" * 4_000_000),
    "heads of tokens": ("a.txt", "eyJ" + "a" * 4_000_000),
    "addresses": ("a.txt", ("postgres://" + "a" * 60 + ":") * 40_000),
    "names of secrets": ("a.js", "secret_token_password_api_key=" * 60_000),
    "shell in rust": ("a.rs", 'Command::new("sh")"-c"' * 40_000),
    "queries in go": ("a.go", '.Query(fmt.Sprintf("select ' * 40_000),
    "workflows": ("a.yml", "${{github.event.issue." * 40_000),
    "curls": ("a.sh", "curl -a -b " * 60_000),
    "scripts": ("a.html", "<script http://" * 60_000),
}


@pytest.mark.slow
@pytest.mark.parametrize(("path", "text"), SLOW.values(), ids=SLOW.keys())
def test_no_file_takes_longer_than_both_bounds(path: str, text: str) -> None:
    code = (
        "import resource, sys\n"
        "from pathlib import Path\n"
        "resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))\n"
        "resource.setrlimit(resource.RLIMIT_CPU, (300, 300))\n"  # a guard, no measure
        "from mcl.plugins.review.scan.patterns import ScanSource, scan_source\n"
        "scan_source(ScanSource(sys.argv[1], sys.stdin.read()))\n"
        # getrusage counts what the process that started this one held: Linux keeps it across exec.
        "status = Path('/proc/self/status')\n"
        "lines = status.read_text().splitlines() if status.exists() else ['VmHWM: 0']\n"
        "print(next(int(line.split()[1]) // 1024 for line in lines if line.startswith('VmHWM')))\n"
    )
    ran = subprocess.run([sys.executable, "-c", code, path], input=text, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr[-500:]
    assert int(ran.stdout) < 700  # MiB

"""What stands around a danger takes it away, or does not: a finding is weighed by what its values can be."""

from __future__ import annotations

import pytest

from mcl.plugins.review.scan.bandit_rules import judged
from mcl.plugins.review.scan.bindings import MAX_DEPTH
from mcl.plugins.review.scan.patterns import ScanSource, scan_source
from mcl.plugins.review.scan.syntax import SyntaxContext

NAMES = "import os, pickle, subprocess, tarfile, yaml, zipfile\nfrom shlex import quote\n"

HARMLESS = {
    "a literal": "exec('x = 1')",
    "a literal that is put together": "eval('a' + 'b' * 3 % (1, 2))",
    "a name that is always a literal": "kind = 'a'\nif b: kind = 'b'\nexec(kind)",
    "a loop over literals": "for a, b in (('x', 1), ('y', 2)):\n    exec(a + ' = b')",
    "steps of texts": "for a in (b'x', b'y'):\n    b = a + b' = 1'\n    c = b.decode('ascii')\n    exec(c)",
    "numbers of others": "def f(x):\n    os.system(f'sleep {int(x)}')",
    "a table of what may be run": "KINDS = {'a': 'ls'}\ndef f(x):\n    os.system(KINDS[x])",
    "a choice of literals": "def f(x):\n    subprocess.run('ls' if x else 'pwd', shell=True)",
    "a module's name in a function": "LINE = 'ls'\ndef f():\n    subprocess.run(f'{LINE} -l', shell=True)",
    "a class's own": "class A:\n    line = 'ls'\n    def f(self):\n        os.system('cd /; %s' % self.line)",
    "a list of literals": "def f(x):\n    a = ['ls']\n    a.append('-l')\n    os.system(' '.join(a))",
    "parts that are quoted": "def f(x):\n    os.system('ls ' + quote(x))",
    "a part that is quoted before": "def f(x):\n    x = quote(x)\n    os.system(f'ls {x}')",
    "a file that is run": "def f(p):\n    with open(p) as a:\n        exec(compile(a.read(), p, 'exec'), {})",
    "a path that is run": "def f(p):\n    b = p.read_text()\n    exec(b)",
    "a module that is loaded": "class A:\n"
    "    def exec_module(self, m):\n        exec(self.code(m), m.__dict__)",
    "a copy": "def f(x):\n    return pickle.loads(pickle.dumps(x))",
    "a copy by a name": "def f(x):\n    y = pickle.dumps(x)\n    return pickle.loads(y)",
    "a loader of one's own": "def f(x):\n    return yaml.load(x, Loader=Plain)",
    "a filter": "def f(x):\n    tarfile.open(x).extractall('a', filter='data')",
    "a filter where there is one": "def f(x):\n    a = tarfile.open(x)\n"
    "    if hasattr(tarfile, 'data_filter'):\n        a.extraction_filter = g\n    a.extractall('a')",
    "a ZIP archive": "def f(x):\n    with zipfile.ZipFile(x) as a:\n        a.extractall('a')",
    "SQL of names that are quoted": "def f(c, n):\n    c.execute('update t set a = %s' % c.quote_name(n))",
    "SQL with marks": "def f(c, x):\n"
    "    c.execute('select * from t where a = (%s)' % ','.join('?' for _ in x), x)",
}

DANGEROUS = {
    "an argument": "def f(x):\n    exec(x)",
    "an argument with a literal for a default": "def f(x='a'):\n    eval(x)",
    "what is read": "x = input()\nexec(x)",
    "a name that nothing here binds": "exec(x)",
    "a literal and what is read": "x = 'a'\nx += input()\nexec(x)",
    "a loop over what is not here": "for a in b.all():\n    exec('%s = 1' % a)",
    "a literal that a function changes": "x = 'a'\ndef f(y):\n    global x\n    x = y\ndef g():\n    exec(x)",
    "a part of a pair": "def f(p):\n    a, b = p\n    os.system('ls ' + a)",
    "a list that others fill": "def f(x):\n    a = ['ls']\n    x(a)\n    os.system(' '.join(a))",
    "a list with one of others": "def f(x):\n    a = ['ls']\n    a.append(x)\n    os.system(' '.join(a))",
    "a class's place for another's": "class A:\n"
    "    line = ''\n    def f(self):\n        os.system(self.line)",
    "a class's own that is set": "class A:\n    line = 'ls'\n    def f(self, x):\n        self.line = x\n"
    "    def g(self):\n        os.system(self.line)",
    "a shadow of a number": "def f(x, int):\n    os.system(f'sleep {int(x)}')",
    "one part of two that is quoted": "def f(x, y):\n    os.system('ls ' + quote(x) + y)",
    "a guard made here": "def quote(x):\n    return x\ndef f(x):\n    os.system('ls ' + quote(x))",
    "an import": "from settings import LINE\nos.system(LINE)",
    "what an open text holds": "def f(a):\n    exec(a.read())",
    "what is fetched": "def f(a):\n    b = open_address(a).read()\n    exec(b)",
    "a pickle of others": "def f(x):\n    return pickle.loads(x)",
    "a pickle that may be another": "def f(x):\n"
    "    y = pickle.dumps(x)\n    y = x\n    return pickle.loads(y)",
    "a loader of any object": "def f(x):\n    return yaml.load(x, Loader=yaml.UnsafeLoader)",
    "no loader": "def f(x):\n    return yaml.load(x)",
    "a filter of nothing": "def f(x):\n    tarfile.open(x).extractall('a', filter='fully_trusted')",
    "no filter": "def f(x):\n    a = tarfile.open(x)\n    a.extractall('a')",
    "SQL with a value": "def f(c, x):\n    c.execute(\"select * from t where a = '%s'\" % x)",
    "deep": "os.system(" + "-" * (MAX_DEPTH + 5) + "x)",
}  # fmt: skip


def severities(text: str) -> set[str]:
    return {one.severity for one in scan_source(ScanSource("shop/app.py", NAMES + text + "\n"))} - {"NOTE"}


@pytest.mark.parametrize("text", HARMLESS.values(), ids=HARMLESS.keys())
def test_what_is_all_written_here_or_guarded_is_a_note(text: str) -> None:
    assert judged(NAMES + text).issues
    assert severities(text) == set()


@pytest.mark.parametrize("text", DANGEROUS.values(), ids=DANGEROUS.keys())
def test_what_others_may_choose_blocks(text: str) -> None:
    assert severities(text)


def test_a_hash_that_is_asked_for_its_size_is_none() -> None:
    text = "from hashlib import sha1\nsalt = sha1().digest_size\npassword = sha1(x)\n"
    assert [one.line for one in scan_source(ScanSource("a.py", text))] == [3]


def test_what_would_take_too_many_steps_stays_as_severe(monkeypatch: pytest.MonkeyPatch) -> None:
    from mcl.plugins.review.scan import bindings

    assert severities("exec('a')") == set()
    monkeypatch.setattr(bindings, "MAX_STEPS", 0)
    assert severities("exec('a')") == {"WARNING"}


def test_a_question_that_is_none_is_an_error_and_each_in_the_weights_is_one() -> None:
    import tomllib
    from pathlib import Path

    from mcl.plugins.review.scan.syntax import QUESTIONS

    weights = Path(bindings_place()).with_name("weights.toml").read_text()
    asked = {
        one["around"] for rule in tomllib.loads(weights)["rules"].values() for one in rule.get("given", ())
    }
    assert asked == set(QUESTIONS)
    [issue] = judged("exec(x)\n").issues
    with pytest.raises(KeyError):
        SyntaxContext().holds("nosuch", issue.node)


def bindings_place() -> str:
    from mcl.plugins.review.scan import bindings

    return bindings.__file__

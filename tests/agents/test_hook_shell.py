"""Commands of a shell: which are known to read only, and that nothing else is taken for one."""

from __future__ import annotations

import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from mcl.plugins.agents.guard import shell
from mcl.plugins.agents.guard.shell import NotPlainError, Shell, look_at, read_line

SEARCH = "/usr/local/bin:/usr/bin:/bin"
READING = Path(shell.__file__).with_name("reading.toml")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("shell") / "project"
    (root / "src").mkdir(parents=True)
    (root / "src/main.py").write_text("print()\n")
    (root / ".env").write_text("KEY=1\n")
    (root / "innocent.txt").symlink_to(root / ".env")
    (root / "away").symlink_to("/etc")
    return root.resolve()


def finding(place: Path, line: str, *, search: str = SEARCH, cwd: str = "") -> str:
    """What a line is found to do; "unknown" where that is not known."""
    try:
        return look_at(line, Shell(place, cwd or str(place), search, "one"))
    except NotPlainError:
        return "unknown"


@pytest.mark.parametrize(
    "line",
    [
        "ls",
        "ls -la src",
        "cat src/main.py | head -n 20",
        "head -20 src/main.py",
        "sed -n '1,20p' src/main.py",
        "wc -l src/main.py && git status --short",
        "git log --oneline -5; git diff HEAD~3 -- src/main.py",
        "git --no-pager show HEAD:src/main.py",
        "git -C src log --stat --format='%h %s'",
        "cd src && ls && git diff --cached --stat",
        "git diff src/main.py && git diff HEAD~1 -- src/main.py",
        "git log -p -3 src/main.py",
        "git show HEAD --name-only; git show -s",
        "git cat-file -p HEAD:src/main.py; git cat-file -t HEAD",
        "find src -name '*.py' -type f -not -path '*/x/*' ! -empty \\( -size +1 -o -newer src/main.py \\)",
        "grep -n \"def main\" src/main.py 2>/dev/null || echo 'not there'",
        "grep -e x -A 3 src/main.py 2>&1 | sort -u | uniq -c",
        "diff -u src/main.py src/other.py",
        "test -f src/main.py && echo yes",
        "sort -k 2 -t , src/x.csv | cut -d , -f 1",
        "date +%F\npwd\n",
        "/usr/bin/wc -c src/main.py",
        "mcl work show INT-001",
        "mcl work select INT-001 --agent one",
        "git blame -L 1,5 src/main.py",
        "git rev-parse --abbrev-ref HEAD",
    ],
)
def test_plain_reading_is_known(place, line):
    assert finding(place, line) == "reads"


@pytest.mark.parametrize(
    "line",
    [
        "rg todo",
        "grep -rn todo src",
        "grep --recursive todo .",
        "git grep todo",
        "diff -r src src2",
        "diff src .",
        "git diff",
        "git diff HEAD~3",
        "git diff --cached",
        "git diff --stat -p",
        "git diff -U3 --stat",
        "git diff -- src",
        "git diff src",
        "git diff -- '*.py'",
        "git diff -- ':/'",
        "git diff '*main.py'",
        "git diff HEAD -- gone.py",
        "git diff HEAD:src HEAD~1:src",
        "git show",
        "git show HEAD",
        "git show HEAD -- .",
        "git show 'HEAD^{/a:src/main.py}'",
        "git show :/src/main.py",
        "git show 5c2a7e1",
        "git log -p",
        "git log -u -1 HEAD",
        "git log --patch -- src",
        "git log -U5",
        "git log -c",
        "git log --word-diff=plain",
        "git cat-file -p 5c2a7e1",
        "git status -v",
        "cat /etc/passwd",
        "ls ..",
        "git diff /etc/passwd /dev/null",
        "cat away/passwd",
        "cat src/../../x",
        "mcl work check ../x.yaml",
        "mcl work list --root=/tmp",
    ],
)
def test_searching_folders_and_reading_elsewhere_is_left_to_the_host(place, line):
    assert finding(place, line) == "leave"


def _git(place: Path, *words: str) -> str:
    alone = {"PATH": SEARCH, "HOME": str(place)}
    told = subprocess.run(["git", *words], cwd=place, capture_output=True, text=True, env=alone)
    return told.stdout


def test_git_shows_no_contents_where_that_counts_as_reading(place, tmp_path):
    """By git itself: every option that the table knows, beside those that are said to hide contents."""
    _git(tmp_path, "init", "-q")
    for text in ("first", "second"):
        (tmp_path / ".env").write_text(f"KEY=sekret-{text}\n")
        _git(tmp_path, "add", "-A")
        _git(tmp_path, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x")
    (tmp_path / ".env").write_text("KEY=sekret-third\n")
    assert "sekret" in _git(tmp_path, "diff")
    for name, row in tomllib.loads(READING.read_text())["git"].items():
        flags = [f"-{one}" for one in row.get("flags", "") if one not in row.get("values", "")]
        options = [*flags, "-U3", *(f"--{one}" for one in row.get("long", ()) if not one.endswith("="))]
        for option in ("", *options):
            for hiding in ("", "--stat", "-s") if row.get("shows") else ("",):
                words = [one for one in (name, hiding, option) if one]
                if finding(tmp_path, f"git {' '.join(words)}") == "reads":
                    assert "sekret" not in _git(tmp_path, *words), words


@pytest.mark.parametrize(
    "line",
    [
        "cat .env",
        "cat src/../.env",
        "cat ./.ENV",
        "cat innocent.txt",
        "head -5 .git/config",
        "grep x .env",
        "git show HEAD:.env",
        "git show HEAD:config/.env",
        "git show :0:.env",
        "git show 'HEAD^{/a: b}:.env'",
        "git log -L 1,5:.env",
        "git diff -- .env",
        "cat src/id_rsa",
        "cd .git; ls",
        "cat /home/ada/.ssh/id_ed25519",
        "git log -- credentials.json",
        "sed -n '1,2p' .env",
        "mcl work check .env",
        "mcl verify innocent.txt",
        "mcl activity list --file=.git/config",
    ],
)
def test_what_is_protected_is_no_plain_reading(place, line):
    assert finding(place, line) in ("secret", "unknown")


# What changes files, or may; each with some way of looking like a command that reads.
CHANGING = [
    "git log --abbrev --output=x",
    "git diff --abbrev --output=x",
    "git log --author -- --output=x",
    "git log --stat --output=x",
    "git diff -U --output=x",
    "git status -u --output=x",
    "rg -E --pre=./x y",
    "rg --encoding -- --pre=./x y",
    "sort --key -- -o x",
    "find . -name x -o -delete",
    "git shortlog --since --output=x",
    "rm -rf src",
    "touch x",
    "mv a b",
    "make",
    "python x.py",
    "npm test",
    "bash -c 'ls'",
    "sh x.sh",
    "eval ls",
    "ls > x",
    "ls >> x",
    "ls >| x",
    "ls 2> x",
    "ls &> x",
    "ls >& x",
    "cat < x",
    "cat <> x",
    "ls 1>x",
    "cat <<EOF > x\nhello\nEOF",
    "cat <<EOF\n$(rm x)\nEOF",
    "cat <<'EOF'\nx\nEOF",
    "cat <<< x",
    "ls 3>x",
    "ls $(rm x)",
    "ls `rm x`",
    'echo "$(rm x)"',
    'echo "`rm x`"',
    "echo ${x:=$(rm x)}",
    "ls $x",
    'ls "$x"',
    "cat <(rm x)",
    "ls >(tee x)",
    "diff <(ls) <(rm x)",
    "ls & rm x",
    "ls &",
    "ls |& tee x",
    "ls | tee x",
    "ls | xargs rm",
    "ls | sh",
    "ls; rm x",
    "ls\nrm x",
    "ls && rm x",
    "ls || rm x",
    "(rm x)",
    "{ rm x; }",
    "if true; then rm x; fi",
    "for f in a; do rm $f; done",
    "while :; do rm x; done",
    "f() { rm x; }; f",
    "A=1 ls",
    "PATH=. ls",
    "GIT_EXTERNAL_DIFF=./x git diff",
    "env ls",
    "command ls",
    "exec ls",
    "sudo ls",
    "time ls",
    "! ls",
    "nohup ls",
    "nice ls",
    "timeout 5 ls",
    "xargs ls",
    "source x",
    ". x",
    "alias ls=rm",
    "find . -exec rm {} ;",
    "find . -exec rm {} +",
    "find . -delete",
    "find . -execdir rm x ';'",
    "find . -fprint x",
    "find . -ok rm x ';'",
    "find . -fls x",
    "find . -fprintf x y",
    "find -files0-from x",
    "sed -i s/a/b/ x",
    "sed -n '1p' -i x",
    "sed -ni 1p x",
    "sed --in-place 1p x",
    "sed 's/a/b/w x' y",
    "sed -n '1e rm x' y",
    "sed -n 'w x' y",
    "sed 1d x",
    "sed -n -f x y",
    "sed -e 1p -e 'w x' y",
    "awk 'BEGIN{system(\"rm x\")}'",
    "perl -e 'unlink x'",
    "tee x",
    "dd if=a of=b",
    "cp a b",
    "ln -s a b",
    "sort -o x y",
    "sort y -o x",
    "sort --output=x y",
    "sort --out=x y",
    "sort -ro x y",
    "uniq a b",
    "sort --compress-program=./x y",
    "sort -S 1 -T x y",
    "tree -o x",
    "tree -R -H . -L 1",
    "file -C -m x",
    "git -c alias.x='!rm x' x",
    "git -c core.pager=./x log",
    "git x",
    "git commit -am x",
    "git push",
    "git --exec-path=. log",
    "git --git-dir=/tmp/x log",
    "git --work-tree=/ status",
    "git -C / log",
    "git -C ../other log",
    "git --config-env=a=B log",
    "git -p log",
    "git checkout .",
    "git stash",
    "git diff --output=x",
    "git diff --outp=x",
    "git log --output x",
    "git show --ext-diff",
    "git diff -Ox",
    "git log --textconv",
    "git diff --no-index a b",
    "git branch new",
    "git branch -D x",
    "git branch -m a b",
    "git tag v1",
    "git tag -d v1",
    "git remote add x y",
    "git remote -v add x y",
    "git config x y",
    "git grep -O./x y",
    "git grep --open-files-in-pager=./x y",
    "git help",
    "git bisect run ./x",
    "git status; git clean -fd",
    "git submodule update",
    "git fetch",
    "git cat-file --filters HEAD:x",
    "git blame --contents=x y",
    "git ls-files --exclude-from=x",
    "git log --no-pager",
    "git",
    "git -P",
    "rg --pre ./x y",
    "rg --pre=./x y",
    "rg -z x",
    "rg --hostname-bin ./x y",
    "rg -f x y",
    "rg --files-from x",
    "grep -f x y",
    "grep --file=x y",
    "grep -E -f x y",
    "wc --files0-from=x",
    "date -s now",
    "date 01010000",
    "ls *",
    "cat src/*",
    "ls ?",
    "ls [a]",
    "ls {a,b}",
    "ls ~",
    "cat ~/x",
    "ls -- *",
    "cat .e*",
    "ls !x",
    "./ls",
    "src/ls",
    "../bin/ls",
    "/tmp/ls",
    "/usr/bin/env ls",
    "~/bin/ls",
    "/usr/bin/../../tmp/ls",
    'ls "a',
    "ls 'a",
    "ls \\",
    "ls a\\\nb",
    "",
    " ",
    ";",
    "&&",
    "ls ;; ls",
    "ls | | ls",
    "ls &&",
    "| ls",
    "ls ||| ls",
    "l\\s > x",
    "l's' > x",
    "'ls' $(x)",
    "ls\r\nrm x",
    "ls\x00rm",
    "ls \x1b[2J",
    "ls #",
    "#",
    "ls a#b; rm x",
    "=ls",
    "ls =rm",
    "cd /tmp",
    "cd ..",
    "cd src; rm x",
    "cd; ls",
    "cd - && ls",
    "cd src || ls",
    "cd away && ls",
    "ls && cd src",
    "pushd src",
    "cd src & ls",
    "cd src && cd ..",
    "CDPATH=/ cd src && ls",
    "cd src /tmp && ls",
    "mcl run x",
    "mcl log show --export src",
    "mcl log show --export=src",
    "mcl log @last --export src",
    "mcl log head",
    "mcl activity list --fresh",
    "mcl skill list --skills src",
    "mcl work check -- -x",
    "python -m mcl work import",
    "mcl --agent x intents",
    "mcl 'intents' 'export'",
    "mcl",
    "printf -v PATH x",
    "read x",
    "export PATH=.",
    "set -x",
    "trap 'rm x' EXIT",
    "kill 1",
    "hash -p ./x ls",
    "echo x | mcl hook post-tool-use | sh",
    "ls\trm\n rm x",
    "curl x",
    "wget x",
    "ssh x",
    "jq . x",
    "less x",
    "type -a ls; rm x",
    "test -f x && rm x",
    "[ -f x ]",
    "[[ -f x ]]",
    "((x=1))",
    "let x=1",
    "ls " + "a" * 9000,
    " && ".join(["ls"] * 40),
]


@pytest.mark.parametrize("line", CHANGING, ids=range(len(CHANGING)))
def test_nothing_else_is_taken_for_reading(place, line):
    assert finding(place, line) == "unknown"


def test_a_program_of_the_folder_is_not_the_one_of_that_name(place, tmp_path):
    own = place / "bin"
    own.mkdir(exist_ok=True)
    (own / "ls").write_text("#!/bin/sh\nrm -rf src\n")
    (own / "ls").chmod(0o755)
    assert finding(place, "ls", search=f"{own}:{SEARCH}") == "unknown"
    assert finding(place, "ls", search=f"bin:{SEARCH}") == "unknown"
    assert finding(place, "ls", search=f".:{SEARCH}", cwd=str(own)) == "unknown"
    (tmp_path / "way").symlink_to(own)
    assert finding(place, "ls", search=f"{tmp_path}/way:{SEARCH}") == "unknown"
    assert finding(place, "cat src/main.py", search=f"{own}:{SEARCH}") == "reads"
    assert finding(place, "ls", search="") == "reads"


def test_git_runs_in_no_folder_that_an_agent_could_have_made_a_repository(place):
    """Plain files make one, and its settings name programs that even `git status` starts."""
    made = place / "src/lib"
    for name in ("objects", "refs", "deep"):
        (made / name).mkdir(parents=True, exist_ok=True)
    assert finding(place, "git -C src/lib status") == "reads"
    (made / "config").write_text("[core]\n\tfsmonitor = ./x\n\tworktree = .\n")
    (made / "HEAD").write_text("ref: refs/heads/main\n")
    for line in ("git -C src/lib status", "cd src/lib && git diff", "git -C src/lib/deep log"):
        assert finding(place, line) == "unknown", line
    assert finding(place, "git status", cwd=str(made)) == "unknown"
    assert finding(place, "git -C src status; cat src/lib/config") == "reads"


def test_a_folder_counts_from_where_it_is_entered_and_nowhere_else(place, tmp_path):
    deep = place / "src/deep/bin"
    deep.mkdir(parents=True, exist_ok=True)
    (place / "near").symlink_to(place / "src/deep")
    # In a pipe `cd` changes nothing for what follows; and a shell goes back by the name, not by the link.
    assert finding(place, "cd src/deep | cat ../../x") == "unknown"
    assert finding(place, "cd near/.. && cat main.py") == "unknown"
    assert finding(place, "cd src/deep && ls | cat ../main.py") == "reads"
    (deep / "ls").write_text("#!/bin/sh\nrm -rf src\n")
    (deep / "ls").chmod(0o755)
    assert finding(place, "cd src/deep && ls", search=f"bin:{SEARCH}") == "unknown"


# ---- against a real shell ----

_WORDS = st.lists(
    st.one_of(
        st.text(alphabet="ab1._/-:@%+,^=#~!", min_size=1, max_size=4),
        st.text(alphabet='ab \t;|&<>$`\\"*?[]{}()#~!\n', max_size=4).map(lambda text: f"'{text}'"),
        st.text(alphabet="ab ;|&<>*?'(){}[]#~", max_size=4).map(lambda text: f'"{text}"'),
        st.sampled_from(
            ["\\;", "\\ ", "\\|", "\\(", "\\'", '\\"', "\\\\", "\\$", "\\a", "2>&1", ">/dev/null"]
        ),
        st.sampled_from(
            ["$x", "`a`", "$(a)", "*", "?", "<(a)", "> x", "&", "{a,b}", "~", "<<a", "x=1", "\\\n"]
        ),
    ),
    max_size=4,
)
_LINES = st.lists(
    st.tuples(
        st.sampled_from(["one", "two", "o'n'e", '"two"', "o\\ne"]),
        _WORDS,
        st.sampled_from([" | ", "&&", " || ", ";", "\n", " ; \n", "|", "  "]),
        st.sampled_from([" ", "  ", "\t"]),
    ),
    min_size=1,
    max_size=3,
).map(lambda parts: "".join(f"{name}{gap}{gap.join(words)}{end}" for name, words, end, gap in parts))


def in_bash(lines: list[str], folder: Path) -> list[list[tuple[str, ...]]]:
    """What commands each line runs, with their arguments, when a real shell reads it."""
    script = (
        'one() { printf "%s\\0" one "$@" "" >> "$LOG"; }; two() { printf "%s\\0" two "$@" "" >> "$LOG"; }\n'
        'while IFS= read -r -d "" line; do LOG="$OUT/$((n++))"; : > "$LOG"; '
        '( eval "$line" ) </dev/null >/dev/null 2>&1; done'
    )
    folder.mkdir(parents=True)
    subprocess.run(
        [shutil.which("bash") or "bash", "--norc", "--noprofile", "-c", script],
        input="".join(f"{line}\0" for line in lines).encode(),
        env={"OUT": str(folder), "PATH": "/nonexistent"},
        cwd=folder,
        check=True,
    )
    return [_logged((folder / str(number)).read_bytes()) for number in range(len(lines))]


def _logged(data: bytes) -> list[tuple[str, ...]]:
    found: list[tuple[str, ...]] = []
    words: list[str] = []
    for word in data.decode("utf-8", "surrogateescape").split("\0")[:-1]:
        if word:
            words.append(word)
        else:
            found.append(tuple(words))
            words = []
    return found


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash to compare with")
@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(_LINES, min_size=20, max_size=60))
@example(["one 'a'b\"c\"\\d", "one HEAD~3 a#b x^ a!b", "one ! a", "two -- -x | one", "one;two\n\n\ntwo"])
def test_a_plain_line_is_what_a_real_shell_makes_of_it(tmp_path_factory, lines):
    plain: list[tuple[str, list[tuple[str, ...]]]] = []
    for line in lines:
        try:
            commands = read_line(line)
        except NotPlainError:
            continue
        if any(not word for command in commands for word in command.words):
            continue  # the log keeps no empty words
        # All succeed, so what stands behind `||` is not run.
        ran = [command.words for command in commands if command.after != "||"]
        plain.append((line, ran))
    if any(command.after == "||" for line, _ in plain for command in read_line(line)[:-1]):
        plain = [one for one in plain if "||" not in one[0]]
    run = in_bash([line for line, _ in plain], tmp_path_factory.mktemp("bash") / "out")
    for (line, said), done in zip(plain, run, strict=True):
        assert sorted(done) == sorted(said), line

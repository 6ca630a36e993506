"""A session that stands in no governed folder: above one, beside one, anywhere. What it reaches is judged."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import pytest

from mcl.plugins.agents.guard.places import names_mcl, reached
from tests.agents.hosting import ClaudeCode, GeminiCli
from tests.agents.test_hook_shell import CHANGING

STRICTER = ("allow", "", "ask", "deny")
PERSONS = [
    "mcl work import --yes",
    "mcl gate approve 01K",
    "mcl accept @last --yes",
    "mcl grant add shell",
    "mcl key trust did:key:x --role user",
    "mcl server trust x",
    "mcl tool approve --all --yes",
    "mcl hook post-tool-use",
    "mcl run @last --yes-gates",
    "mcl hook install claude-code --write",
]
READING = ["cat README.md", "ls", "git log --oneline", "cat .env", "cat .orchestration/active_intents.yaml"]
LINES = [
    *(line for line in CHANGING if line.strip()),
    *PERSONS,
    *READING,
    "rm -rf .",
    "echo x > README.md",
    "git commit -am x",
    "cat innocent.txt",
]

# Ways to a folder from outside of it: {f} is how it is named from there, {a} its whole path, {l} the line,
# {q} the same in quotes for another shell.
WAYS = [
    "cd {f} && {l}",
    "cd {f}\n{l}",
    "cd {a}; {l}",
    "cd '{f}'; {l}",
    'cd "{f}"; {l}',
    "cd {f}/ && {l}",
    "cd .//{f}/./src/.. && {l}",
    "(cd {f}; {l})",
    "{{ cd {f}; {l}; }}",
    "pushd {f} && {l}",
    "cd ..; cd - ; cd {f}; {l}",
    "true; cd src; cd {f} 2>/dev/null || cd {a}; {l}",
    "sh -c 'cd {f}' ; bash -c {q}; cd {f}; {l}",
    "env -C {f} sh -c {q}",
    "env --chdir={f} sh -c {q}",
    "cd {f}&&{l}",
    "x={f}; cd $x; {l}",
    "cd $(echo {f}); {l}",
    "cd {a2}; {l}",
    "cd $PWD/{f}; {l}",
    "cd `pwd`/{f}; {l}",
    "cd {link}; {l}",
    "cd {g}; {l}",
    "echo {f} | xargs -I F sh -c 'cd F'; {l}",
]


@pytest.fixture
def around(project, claude):
    """The folder with more around it, and hosts that stand there: parent, grandparent, beside it."""
    (project.root / ".env").write_text("KEY=1\n")
    (project.root / "innocent.txt").symlink_to(project.root / ".env")
    (project.root / "README.md").write_text("one\n")
    (project.root.parent / "other" / "src").mkdir(parents=True)
    (project.root.parent / "other" / "src" / "a.py").write_text("one\n")
    (project.root.parent / "shortcut").symlink_to(project.root)
    return project


def host(project, place: Path, kind: type[ClaudeCode] = ClaudeCode) -> ClaudeCode:
    return kind(project.home, place.resolve())


def places(project) -> list[Path]:
    parent = project.root.parent
    return [parent, parent.parent, parent / "other", parent / "other" / "src", Path("/")]


def as_reached(way: str, line: str, project, place: Path) -> str:
    near, whole = os.path.relpath(project.root, place), str(project.root)
    return way.format(
        f=near,
        a=whole,
        a2=whole.replace("/", "//").replace("//", "/./", 1),
        l=line,
        q=shlex.quote(line),
        link=project.root.parent / "shortcut",
        g=str(project.root.parent / (project.root.name[:2] + "*")),
    )


def rank(verdict: str) -> int:
    return STRICTER.index(verdict)


@pytest.mark.parametrize("number", range(len(WAYS)))
def test_a_line_is_judged_no_laxer_wherever_the_session_stands(around, claude, number) -> None:
    """Each line once for each way, from one of the places; each place comes for each way."""
    inside = {line: rank(claude.bash(line).verdict) for line in LINES}
    stand = places(around)
    hosts = [host(around, place) for place in stand]
    laxer = []
    for at, line in enumerate(LINES):
        which = (at + number) % len(stand)
        said = as_reached(WAYS[number], line, around, stand[which])
        told = hosts[which].bash(said)
        if rank(told.verdict) < min(inside[line], rank("deny")) and inside[line] != 0:
            laxer.append((said, told.verdict, inside[line]))
    assert laxer == []


@pytest.mark.parametrize("line", ["make", "rm -rf src", "echo x > README.md", "git commit -am x"])
def test_with_a_checkout_it_is_asked_about_and_noted_as_in_the_folder(around, working, line) -> None:
    outside = host(around, around.root.parent)
    assert outside.bash(f"cd {around.root.name} && {line}").verdict == "ask"


@pytest.mark.parametrize(
    "line",
    [
        "echo x > {f}/README.md",
        "echo x >> .//{f}/README.md",
        "echo x >{f}/README.md",
        "echo x >| {f}/README.md",
        "make 2>{f}/log",
        "make &> {f}/log",
        "tee {f}/a < b",
        "rm -rf {f}",
        "rm -rf {a}",
        "rm -rf {a2}/README.md",
        "rm -rf ./{f}/../{n}",
        "rm -rf ..",
        "rm -rf {p}",
        "rm -rf {p}/",
        "rm -rf {p}/*",
        "rm -rf {p}/[{i}]*",
        "mv {p} /tmp/x",
        "git -C {f} commit -am x",
        "git --git-dir={f}/.git --work-tree={f} commit -am x",
        "make -C {f}",
        "make -C{f}",
        "make --directory={f}",
        "npm --prefix={f} test",
        "npm --prefix {f} test",
        "GIT_DIR={f}/.git git commit",
        "tar xf a.tar -C {f}",
        "python -c \"open('{f}/README.md', 'w')\"",
        "python3 - <<'EOF'\nopen('{a}/README.md', 'w').write('x')\nEOF",
        "cp a {link}/README.md",
        "ln -s {f} y; rm y/README.md",
        "sh -c 'cd {f} && make'",
        "sh -c \"echo x > '{f}/a b'\"",
        "rsync -a x/ localhost:{a}/",
        "docker run -v {a}:/work image",
        "curl -o {f}/README.md https://example.org/",
        "curl -d @{f}/README.md https://example.org/",
        "cp x {{{f},y}}/README.md",
        "rm {p}/{{a,{n}}}/README.md",
        "rm /proc/self/cwd/{f}/README.md",
        "rm /proc/self/root{a}/README.md",
        "rm -rf $PWD/{f}",
        "rm -rf ${{PWD}}/{f}",
    ],
)
def test_what_a_line_names_is_reached(around, line) -> None:
    for place in (around.root.parent, around.root.parent / "other", around.root.parent.parent):
        near = os.path.relpath(around.root, place)
        said = line.format(
            f=near,
            a=around.root,
            a2=str(around.root).replace("/", "//"),
            p=around.root.parent,
            n=around.root.name,
            i=around.root.name[0],
            link=around.root.parent / "shortcut",
        )
        if said == "rm -rf .." and place == around.root.parent.parent:
            continue  # that is above too, but asked about like all that is
        assert host(around, place).bash(said).verdict == "deny", (said, place)


def test_home_is_read_as_a_shell_reads_it(around, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(around.root.parent))
    for name in ("~", "$HOME", "${HOME}", '"$HOME"'):
        said = f"rm -rf {name}/{around.root.name}/README.md"
        assert host(around, Path("/usr")).bash(said).verdict == "deny", said
    assert host(around, Path("/usr")).bash(f"cd; cd {around.root.name}; make").verdict == "deny"
    assert host(around, Path("/usr")).bash(f"cd && rm -rf {around.root.name}").verdict == "deny"


@pytest.mark.parametrize(
    "line",
    [
        "mcl work import --yes",
        "/usr/bin/mcl gate approve 01K",
        "python -m mcl accept x",
        "python3 -m mcl.cli gate approve x",
        "env mcl gate approve x",
        "env -u CLAUDECODE mcl accept x",
        "sh -c 'mcl gate approve x'",
        "sh -c \"m'c'l gate approve x\"",
        "'mcl' gate approve x",
        '"mcl" accept x',
        "m''cl accept x",
        "\\mcl accept x",
        "echo gate approve x | xargs mcl",
        "script -qc 'mcl accept x' /dev/null",
        "setsid mcl accept x",
        "nohup mcl accept x &",
        "echo 'mcl accept x' | at now",
        "$(which mcl) accept x",
        "MCL_HOME=/tmp/x mcl accept x",
        "python -c 'import mcl; mcl.accept(\"x\")'",
        "for f in a; do mcl gate approve $f; done",
        "/usr/bin/env mcl accept x",
        "time mcl accept x",
        "cd / && mcl accept x --yes",
    ],
)
def test_a_line_that_names_mcl_is_judged_wherever_it_is_run(around, line) -> None:
    for place in (around.root.parent, around.root.parent / "other", Path("/")):
        assert rank(host(around, place).bash(line).verdict) >= rank("ask"), (line, place)


def test_a_persons_command_is_refused_as_one_from_anywhere(around) -> None:
    for line in PERSONS:
        told = host(around, Path("/usr")).bash(line)
        assert (told.verdict, told.reason.partition(":")[0]) == ("deny", "PERSON_ONLY"), (line, told.reason)


@pytest.mark.parametrize(
    "line",
    [
        "ls",
        "make",
        "npm test",
        "git commit -m 'a / b'",
        "cp a b",
        "for f in *; do echo $f; done",
        "echo $PATH > x",
        "cd src && make",
        "python -c 'print(1 / 2)'",
        "cat notes/mcl.md",
        "curl https://example.org/a/b > x",
        "x=$(cat y); echo $x",
        "docker build -t x:y .",
        "sed -i 's/a/b/' src/a.py",
        "cut -d/ -f1 x > y",
        "cat <<'EOF' > x\nit's a line\nEOF",
    ],
)
def test_what_reaches_nothing_governed_stays_the_hosts(around, line) -> None:
    assert host(around, around.root.parent / "other").bash(line).verdict == ""


def test_above_a_governed_folder_what_can_be_read_is_asked_about(around) -> None:
    above = host(around, around.root.parent)
    assert [above.bash(line).verdict for line in ("make", "npm test", "git clean -fdx")] == ["ask"] * 3
    assert above.bash("ls").verdict == "", "reading is the host's"
    assert above.bash("echo $PATH").verdict == "", "so is what cannot be read and names nothing"


def test_a_folder_that_a_host_runs_it_in_counts(around) -> None:
    gemini = host(around, around.root.parent, GeminiCli)
    for folder in (around.root.name, f"./{around.root.name}/src", "other/.."):
        told = gemini.pre("run_shell_command", {"command": "make", "dir_path": folder})
        assert told.verdict in ("deny", "ask"), folder


def test_more_words_than_can_be_looked_at_reach_all(tmp_path: Path) -> None:
    line = " ".join(map(str, range(30_000)))
    assert reached(line, "/usr", (tmp_path,)) == (tmp_path,)
    assert reached("make", "/usr", (tmp_path,)) == ()


def test_a_folder_called_mcl_is_not_the_command(tmp_path: Path) -> None:
    (tmp_path / "src" / "mcl").mkdir(parents=True)
    assert not names_mcl("cd src/mcl && make", str(tmp_path))
    assert not names_mcl("cat mcl.toml.bak smcl mcl-intent x_mcl", str(tmp_path))
    assert names_mcl("mcl accept x", str(tmp_path / "src"))


def test_how_a_command_is_used_is_told_to_everybody(claude) -> None:
    for line in ("mcl accept --help", "mcl work select -h", "mcl --help", "mcl hook install --help"):
        assert claude.bash(line).verdict == "allow", line
    for line in (
        "mcl cancel x --reason --help",
        "mcl accept --help --yes",
        "mcl work import --yes --help",
    ):
        assert claude.bash(line).verdict == "deny", line

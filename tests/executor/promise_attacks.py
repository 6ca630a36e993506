"""Plans that break each rule that a run can be held to, beside those of test_promises_held: other tools with
the same effect, links, spellings, late values, servers, programs. What the tools of `test` and `hub` do is
said in test_promises_attacked."""

from __future__ import annotations

from typing import Any

from walks import NODE, parallel, sequence, tool

from mcl.catalog.manifests import manifest_of

CAFE, CAFE_APART = "caf\u00e9", "cafe\u0301"


def definition(name: str) -> dict[str, Any]:
    return {"name": name, "inputSchema": {"type": "object"}}


def write(path: str, id: str = "w", **more: str) -> NODE:
    return tool(id, "fs/write", "write", path=path, content="x", **more)


def late(which: str, effect: str, name: str, value: str, *, within: str = "q", **more: str) -> NODE:
    """A call whose argument is only known when a node before it has said it."""
    return sequence(
        within,
        tool("s", "test/say", text=value),
        tool("z", which, effect, **{name: "${s.output.text}"}, **more),
    )


def load_to(out: str) -> NODE:
    return tool("z", "test/load", "network", url="http://127.0.0.1:1/", out=out)


def request(method: str, url: str = "http://127.0.0.1:1/", **more: str) -> NODE:
    return tool("h", "http/request", "network", method=method, url=url, **more)


def served(name: str, effect: str = "network") -> NODE:
    which = manifest_of("hub", definition(name), trusted=True).uri.removeprefix("matrix://tool/")
    return tool("o", which.partition("@")[0], effect)


def read(path: str, id: str = "r") -> NODE:
    return tool(id, "fs/read", path=path)


SHELL, LOOK, MAKE = (tool("p", f"test/{name}", "shell") for name in ("shell", "look", "make"))
TESTS, LINT = tool("p", "process/tests", "shell", path="src"), tool("p", "process/lint", "shell", path="src")
GREP, EDITOR = (
    tool("p", "code/grep", "shell", query="x", path="src"),
    tool("p", "process/editor", "shell", path="src/b.txt"),
)
LAUNCH = tool("p", "process/mqlaunch", "shell", command="demo", path="src")
SEND, NOTE, COIN = (
    tool("n", "test/send", "network"),
    tool("n", "test/note", "write"),
    tool("n", "test/coin", "chain"),
)
PUT = tool("m", "cortex/put", "write", type="Fact", text="remember")
CHECKOUT, BRANCH = tool("b", "git/checkout", "write", name="x"), tool("b", "git/branch", "write", name="x")
EVENT = tool("c", "calendar/add", "write", title="a", start="2027-01-01")
ASSIGN = tool("t", "task/assign", "write", assignee="ada", task="paint", folder="kept")
DECIDE = tool("y", "review/decide", "write", title="a", decision="b")
MAP = tool("y", "review/map", "write")
PUSH, COMMIT, STORE = served("git_push"), served("createCommit"), served("write_file")
SEEN, PEEK = served("read"), served("peek", "read")
CHANGES = (
    *(
        MAKE,
        TESTS,
        LAUNCH,
        EDITOR,
        NOTE,
        PUT,
        CHECKOUT,
        EVENT,
        DECIDE,
        MAP,
        PUSH,
        STORE,
        COIN,
        load_to("n.txt"),
    ),
    *(
        request("PUT"),
        request("PATCH"),
        request("DELETE"),
        late("fs/write", "write", "path", "n.txt", content="x"),
    ),
    *(
        tool("k", "data/chart", "write", path="t.csv", out="n.svg"),
        parallel("q", read("a.txt"), write("n.txt")),
    ),
    sequence("q", parallel("u", read("a.txt"), sequence("v", read("src/b.txt", "r2"), write("n.txt")))),
)


def chart(out: str) -> NODE:
    return tool("k", "data/chart", "write", path="t.csv", out=out)


def tried() -> list[tuple[str, NODE]]:
    found = [(keeps, node) for keeps in ("change nothing", "read only") for node in CHANGES]
    ways: dict[str, tuple[NODE, ...]] = {
        "delete nothing": (
            *(MAKE, TESTS, LAUNCH, EDITOR, PUSH, COMMIT, STORE, CHECKOUT, BRANCH),
            *(
                tool("d", "fs/delete", "write", path=path)
                for path in ("kept", "./src//b.txt", f"{CAFE}/e.txt")
            ),
            *(
                late("fs/delete", "write", "path", "a.txt"),
                late("fs/write", "write", "path", "a.txt", content="x", overwrite="true"),
            ),
            sequence("q", write("n.txt"), write("n.txt", "again", overwrite="true")),
        ),
        "overwrite nothing": (
            *(MAKE, TESTS, EDITOR, PUSH, STORE, SEND, COIN, NOTE, PUT, CHECKOUT, MAP),
            *(load_to("a.txt"), chart("old.svg"), chart("./old.svg"), write("a.txt", base="0" * 64)),
            late("fs/edit", "write", "path", "a.txt", old="hello", new="bye"),
            sequence("q", write("n.txt"), tool("e", "fs/append", "write", path="n.txt", content="y")),
        ),
        "no new files": (
            *(
                MAKE,
                TESTS,
                PUSH,
                STORE,
                CHECKOUT,
                EVENT,
                ASSIGN,
                DECIDE,
                MAP,
                load_to("n.txt"),
                chart("n.svg"),
            ),
            *(
                write("kept"),
                write("A.TXT"),
                write("src/out/n.txt"),
                late("fs/append", "write", "path", "n.txt", content="x"),
            ),
            sequence("q", tool("d", "fs/delete", "write", path="a.txt"), write("a.txt")),
        ),
        "no network": (
            *(
                MAKE,
                TESTS,
                LINT,
                GREP,
                LAUNCH,
                EDITOR,
                PUSH,
                SEEN,
                PEEK,
                COIN,
                load_to("n.txt"),
                request("HEAD"),
            ),
            *(request("GET"), late("http/get", "network", "url", "http://127.0.0.1:1/")),
        ),
        "send nothing": (
            *(
                MAKE,
                TESTS,
                LINT,
                GREP,
                LAUNCH,
                PUSH,
                SEEN,
                PEEK,
                COIN,
                load_to("n.txt"),
                request("PUT"),
                request("DELETE"),
            ),
            late("http/request", "network", "url", "http://127.0.0.1:1/", method="GET"),
            sequence("q", read("a.txt"), request("GET", "http://127.0.0.1:1/${r.output.text}")),
            sequence("q", read("a.txt"), request("POST", body="${r.output.text}")),
        ),
        "no commands": (
            *(MAKE, TESTS, LINT, GREP, LAUNCH, EDITOR, PUSH, SEEN, PEEK, parallel("q", read("a.txt"), GREP)),
            late("code/grep", "shell", "query", "hello"),
        ),
        "only in src": (
            *(
                MAKE,
                TESTS,
                LINT,
                GREP,
                PUSH,
                SEEN,
                PEEK,
                SEND,
                COIN,
                NOTE,
                PUT,
                CHECKOUT,
                load_to("n.txt"),
                request("POST"),
            ),
            *(
                read(path)
                for path in ("src/../a.txt", "src/out/d.txt", "Src/b.txt", "/etc/hostname", f"{CAFE}/e.txt")
            ),
            *(
                chart("src/n.svg"),
                late("fs/read", "read", "path", "a.txt"),
                late("fs/list", "read", "path", "."),
            ),
        ),
        "not in secret": (
            *(MAKE, TESTS, GREP, PUSH, SEEN, PEEK, load_to("secret/n.txt"), chart("secret/n.svg")),
            *(
                read(path)
                for path in ("Secret/c.txt", "secret/./c.txt", "docs/link/c.txt", "docs/../secret/c.txt")
            ),
            *(read(path) for path in ("\u017fecret/c.txt", "secret")),
            *(tool("l", "fs/list", path=path) for path in (".", "./", "secret/")),
            late("fs/read", "read", "path", "SECRET/c.txt"),
        ),
        f"not in {CAFE}": (
            read(f"{CAFE_APART}/e.txt"),
            write(f"{CAFE_APART.upper()}/n.txt"),
            read(f"{CAFE}/e.txt"),
        ),
        "change only in src": (
            *(
                MAKE,
                TESTS,
                PUSH,
                STORE,
                SEND,
                COIN,
                NOTE,
                PUT,
                EVENT,
                DECIDE,
                request("POST"),
                request("DELETE"),
            ),
            *(load_to("n.txt"), chart("n.svg"), MAP),
            *(write(path) for path in ("src/../n.txt", "src/out/n.txt", "Src/n.txt", "/tmp/n.txt")),
            late("fs/write", "write", "path", "n.txt", content="x"),
        ),
        "change not in src": (
            *(MAKE, TESTS, EDITOR, PUSH, STORE, CHECKOUT, load_to("src/n.txt"), chart("src/n.svg")),
            *(
                write(path)
                for path in ("SRC/n.txt", "docs/../src/n.txt", "src/./n.txt", "src/out/n.txt", "src")
            ),
            late("fs/write", "write", "path", "src/n.txt", content="x"),
        ),
        "only host api.example": (
            *(MAKE, TESTS, GREP, PUSH, SEEN, PEEK, COIN, load_to("n.txt")),
            *(
                request("GET", f"https://{host}/")
                for host in ("api.example.evil.example", "\u0430pi.example", "api.example@evil.example")
            ),
            *(
                request("GET", f"https://{host}/")
                for host in ("evil.example/api.example", "evil.example:443", "127.0.0.1")
            ),
            late("http/get", "network", "url", "http://127.0.0.1:1/"),
        ),
        "no tool git/commit": (
            MAKE,
            TESTS,
            LAUNCH,
            EDITOR,
            COMMIT,
            SHELL,
            sequence("q", read("a.txt"), SHELL),
        ),
        "no tool git/push": (
            MAKE,
            TESTS,
            LINT,
            GREP,
            LAUNCH,
            EDITOR,
            PUSH,
            parallel("q", read("a.txt"), LOOK),
        ),
        "no tool git/commit, git/push": (MAKE, TESTS, LINT, GREP, LAUNCH, EDITOR, PUSH, COMMIT, SHELL, LOOK),
        "no tool fs/write, fs/delete": (
            *(
                MAKE,
                TESTS,
                LAUNCH,
                EDITOR,
                SHELL,
                STORE,
                late("fs/write", "write", "path", "n.txt", content="x"),
            ),
            *(tool("d", "fs/delete", "write", path="a.txt"), parallel("q", read("a.txt"), write("n.txt"))),
        ),
        "no tool fs/*, http/get": (
            *(
                TESTS,
                SHELL,
                read("a.txt"),
                tool("l", "fs/list"),
                write("n.txt"),
                tool("l", "fs/search", query="x"),
            ),
            *(tool("d", "fs/delete", "write", path="a.txt"), late("fs/read", "read", "path", "a.txt")),
            *(
                tool("g", "http/get", "network", url="http://127.0.0.1:1/"),
                tool("c", "fs/changes", since="2026-01-01"),
            ),
        ),
        "only tool fs/read, time/now": (
            *(
                MAKE,
                TESTS,
                GREP,
                SEEN,
                PEEK,
                SEND,
                NOTE,
                PUT,
                tool("l", "fs/list"),
                request("GET"),
                write("n.txt"),
            ),
            tool("s", "fs/search", query="x"),
        ),
        "at most 0 calls": (
            SHELL,
            PEEK,
            request("GET"),
            parallel("q", read("a.txt"), read("src/b.txt", "r2")),
            NOTE,
        ),
        "at most 0 files": (
            *(
                MAKE,
                TESTS,
                PUSH,
                STORE,
                CHECKOUT,
                EVENT,
                ASSIGN,
                DECIDE,
                MAP,
                load_to("n.txt"),
                chart("n.svg"),
            ),
            late("fs/append", "write", "path", "a.txt", content="x"),
        ),
        "at most 1 files": (
            *(
                MAP,
                sequence("q", write("n.txt"), EVENT),
                sequence("q", load_to("n.txt"), write("o.txt")),
            ),
            *(
                sequence("q", write("n.txt"), chart("n.svg")),
                sequence("q", write("n.txt"), write("N.TXT", "again")),
            ),
            sequence(
                "q", ASSIGN, tool("t2", "task/assign", "write", assignee="bo", task="read", folder="kept")
            ),
            sequence(
                "q", write("n.txt"), late("fs/write", "write", "path", "o.txt", content="x", within="q2")
            ),
            parallel("q", write("n.txt"), write("o.txt", "again")),
        ),
    }
    return found + [(keeps, node) for keeps, nodes in ways.items() for node in nodes]

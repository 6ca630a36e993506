"""Say what you want in plain words; read it, sign it, run it, replay it.

    from mcl import accept, compile_goal, run

    compiled = compile_goal("which files in notes mention invoice").require()
    accept(compiled.intent.id)
    outcome = run(compiled.intent.id).require()

What else there is to do stands in modules named like its nouns: `mcl.skills.check`, `mcl.plans.show`; they
are names of `mcl`, as in `from mcl import skills`, and lie elsewhere, so there is no `import mcl.skills`. In
a program with an event loop: `from mcl import aio`, and `await aio.run(…)`.

Importing this loads nothing. The public names stand in `__init__.pyi`, where type checkers read them too;
each is fetched from its module at first use.
"""

from __future__ import annotations

TYPE_CHECKING = False  # importing typing takes as long as a hook may
if TYPE_CHECKING:
    from typing import Any

_places: dict[str, tuple[str, str]] = {}  # of each public name its module, and what it is called there


def __getattr__(name: str) -> Any:
    if name == "__all__":
        return __dir__()
    if name == "__version__":
        from mcl.core.distribution import VERSION

        return VERSION
    if name == "aio":
        return __import__("mcl.aio", fromlist=["aio"])
    if name not in _public():
        said, now = f"module 'mcl' has no attribute {name!r}", _today(name)
        raise AttributeError(f"{said}; it is {now} now" if now else said)
    module, called = _public()[name]
    value = globals()[name] = getattr(__import__(module, fromlist=[called]), called)
    return value


def __dir__() -> list[str]:
    return sorted([*_public(), "__version__"])


def _today(name: str) -> str:
    """What a public name of before is called now, with its module; "" where there was none."""
    import tomllib
    from pathlib import Path

    for place, names in tomllib.loads(Path(__file__).with_name("renamed.toml").read_text("utf-8")).items():
        if called := name if name in names.get("kept", ()) else names.get(name):
            return f"{place}.{called}"
    return ""


def _public() -> dict[str, tuple[str, str]]:
    """What the lines `from MODULE import NAME as PUBLIC` of the stub say."""
    if not _places:
        from pathlib import Path

        for line in Path(__file__).with_suffix(".pyi").read_text("utf-8").splitlines():
            if line.startswith("from "):
                _, module, _, name, _, public = line.split()
                _places[public] = module, name
    return _places

"""`mcl hook`: how hosts of coding agents ask before a tool is used, and tell of it afterwards."""

from pathlib import Path
from typing import Annotated

from mcl.cli.arguments import AsJson, argument, noun, option, verb
from mcl.cli.home import propose_seal
from mcl.cli.output import Output, note, write_text
from mcl.core.text import one_line
from mcl.plugins.agents.hosts import NAMES

HostName = Annotated[str, option("--host NAME", "The program that calls.")]
AgentName = Annotated[
    str,
    option("--agent NAME", "What the agent is called (default: $MCL_AGENT, else the host)."),
]


hooks = noun("hook", "Decide about the tool calls of a coding agent's host.", "mcl hook install claude-code")


@verb(hooks, "pre-tool-use")
def pre_tool_use(host: HostName = "claude-code", agent: AgentName = "") -> int:
    """Decide about the call that an event on standard input tells of; the answer is JSON.

    Exit code 2 refuses it, with the reason on standard error too; 0 with `allow`, `ask`, or {} where the
    host's own rules decide. What cannot be judged is refused.
    """
    from mcl.plugins.agents.hook.entry import run

    return run("pre", host, agent)


@verb(hooks, "post-tool-use")
def post_tool_use(host: HostName = "claude-code", agent: AgentName = "") -> int:
    """Note what the call of an event on standard input left: a line of the trace for each file that changed.

    Exit code 0, whatever happens; what the agent should know is in the JSON.
    """
    from mcl.plugins.agents.hook.entry import run

    return run("post", host, agent)


@verb(hooks, "install")
def install(
    host: Annotated[str, argument("HOST", f"One of: {', '.join(NAMES)}.")],
    agent: Annotated[
        str,
        option(
            "--agent NAME",
            "The name of all agents that read the settings (default: their $MCL_AGENT, else the host).",
        ),
    ] = "",
    project: Annotated[
        bool, option("--project", "Its settings of this folder, in place of those of the user.")
    ] = False,
    write: Annotated[
        bool, option("--write", "Write it into the file, keeping what is there; shows the change.")
    ] = False,
    as_json: AsJson = False,
) -> int:
    """Print the settings that make a host ask mcl before and after each tool call.

    Nothing is written without --write. In folders without signed work the hooks decide nothing. Settings
    have our hooks once: those that are there are replaced, those of another agent too. To tell two agents of
    one host apart, install without --agent and start each with its own name: MCL_AGENT=NAME.
    """
    import os

    from mcl.core.home import locate, open_home
    from mcl.plugins.agents.cli.install import written_view
    from mcl.plugins.agents.hook.install import change_of, names_in, settings_for
    from mcl.plugins.agents.hosts.host import host_named
    from mcl.plugins.agents.install.changes import write as write_change

    out, known = Output(as_json), host_named(host)
    if not as_json and (locate() / "mcl.db").exists():
        propose_seal(open_home())
    place, other = (folder / known.settings for folder in (Path.home(), Path.cwd()))
    if project:
        place, other = other, place
    settings = settings_for(known, agent, os.environ)
    replaced = [one for one in names_in(known, place) if one != agent]
    doubled = place != other and bool(names_in(known, other))
    told: dict[str, object] = {"host": known.name, "file": str(place), **settings, "docs": known.docs}
    told["replaces"] = replaced
    if not write:
        out.document({**told, "written": False})
        if not as_json:
            import json

            write_text(json.dumps(settings, ensure_ascii=False, indent=2) + "\n")
            note(f"# {known.title}: goes into {place}\n# see {known.docs}")
            _warn(place, other if doubled else None, replaced, agent)
        return 0
    change = change_of(known, settings, place)
    if change.needed:
        write_change(change)
    out.show(
        {**told, "written": change.needed, "diff": change.diff}, written_view(known.title, known.docs, change)
    )
    if not as_json:
        _warn(place, other if doubled else None, replaced, agent)
    return 0


def _warn(place: Path, doubled: Path | None, replaced: list[str], agent: str) -> None:
    """Say what there can be only one of. doubled: other settings of the same host that have our hooks."""
    if replaced:
        before = ", ".join(one_line(name) or "no agent by name" for name in replaced)
        note(
            f"# takes the place of our hooks for {before}: settings have them once. For two agents of one "
            f"host: install without --agent, and start each with its name, MCL_AGENT={agent or 'NAME'}"
        )
    if doubled is not None:
        note(f"# {doubled} has our hooks too: each call in {place.parent.parent} is judged twice; keep one")

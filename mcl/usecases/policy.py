"""`mcl policy check`: what each entry of the operator's deny list closes, and which of them close nothing."""

from dataclasses import dataclass
from typing import Literal

from executor.core.errors import PolicyError
from executor.gate.policy import Denied, Policy
from executor.store.home import Home
from executor.tools.names import nearest
from executor.tools.registry import Registry
from ir.errors import UNVERIFIED, USAGE
from ir.results import JsonResult, as_json
from mcl.catalog.tools.foreign import all_tools, outside_tools
from mcl.core.home import open_home


@dataclass(frozen=True)
class CheckedEntry(JsonResult):
    """One entry of the deny list.

    standing: closed; unverified: a tool of a server that is entered, which that server did not list yet: it
    is closed should it come; unknown: nothing there is called so, and nothing is called until it is mended.
    place: file and line. tools: the names of what it closes. nearest: what may have been meant.
    """

    entry: str
    place: str
    standing: Literal["closed", "unverified", "unknown"]
    tools: tuple[str, ...] = ()
    message: str = ""
    nearest: tuple[str, ...] = ()


@dataclass(frozen=True)
class CheckedPolicy:
    """The policy of a home, entry by entry. problem: why nothing is called, None where it can be followed."""

    policy: Policy
    entries: tuple[CheckedEntry, ...]
    problem: PolicyError | None = None

    @property
    def unverified(self) -> tuple[CheckedEntry, ...]:
        """The entries that close nothing which anybody saw."""
        return tuple(one for one in self.entries if one.standing == "unverified")

    @property
    def exit(self) -> int:
        """0: each entry closes something; 6: some close nothing yet; 2: nothing is called."""
        return USAGE if self.problem else UNVERIFIED if self.unverified else 0

    def to_json(self) -> dict[str, object]:
        """What was found as a JSON object."""
        policy = self.policy
        return {
            "policy": policy.place,
            "version": policy.version,
            "sound": self.exit == 0,
            "deny": as_json(self.entries),
            "approval_minutes": policy.approval_minutes,
            "strict_server_validation": policy.strict_server_validation,
            "lease_minutes": policy.lease_minutes,
            "lock_seconds": policy.lock_seconds,
            **({"code": self.problem.code} if self.problem else {}),
        }


def check(*, home: Home | None = None) -> CheckedPolicy:
    """Look what the operator's policy closes. Nothing is called, and no server is started.

    Raises:
        PolicyError: BAD_POLICY, where the file is no policy; entries that name nothing are told in the
        result. ManifestError: BAD_COMMANDS.
    """
    home = home or open_home()
    policy, tools = Policy.read(home.path / "policy.toml"), all_tools(home)
    problem = None
    try:
        policy = policy.closing(tools)
    except PolicyError as found:
        problem = found
    entries = tuple(_checked(one, policy, tools, home) for one in policy.entries)
    return CheckedPolicy(policy, entries, problem)


def unverified_note(*, home: Home) -> str:
    """What to tell beside a list of tools: that some entries close nothing that anybody saw; else ""."""
    if not Policy.read(home.path / "policy.toml").entries:
        return ""
    names = [f"{one.entry!a}" for one in check(home=home).unverified]
    return (
        f"policy.toml denies what no server listed yet: {', '.join(names)} (mcl policy check)"
        if names
        else ""
    )


def _checked(entry: Denied, policy: Policy, tools: Registry, home: Home) -> CheckedEntry:
    place = f"{policy.place}:{entry.line}" if entry.line else policy.place
    named = entry.named(tools)
    if named is None:
        flaw, near = policy.flaw(entry, tools), entry.nearest(tools)
        return CheckedEntry(entry.text, place, "unknown", (), str(flaw["message"]), tuple(near))
    theirs = [one.manifest for one in outside_tools(home) if one.server == named.server]
    found = [one for one in (*tools.own, *theirs) if named.means(one.uri, one.pin)]
    if found:
        return CheckedEntry(entry.text, place, "closed", tuple(dict.fromkeys(one.name for one in found)))
    near = nearest(entry.text, [one.name for one in theirs])
    why = f"{named.server} lists no such tool; it is closed should it come"
    if not theirs:
        why = f"nothing is known of the tools of {named.server} yet; it is closed should it come"
    return CheckedEntry(entry.text, place, "unverified", (), why, tuple(near))

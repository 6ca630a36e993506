"""Where the home is, its first use, and signing in its name."""

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

from executor.core.errors import HomeError
from executor.gate.grants import Grants
from executor.store.home import Home
from ir import ROLE_OF_KIND, Body, Envelope, Header, seal
from mcl.core.environment import HOME


def locate() -> Path:
    """The folder of the home: $MCL_HOME, else the platform's folder for a user's data."""
    if named := os.environ.get(HOME):
        return Path(named).expanduser().absolute()
    return own_place()


def own_place() -> Path:
    """The platform's folder for the home of whoever runs this process."""
    from platformdirs import user_data_path

    return user_data_path("mcl", appauthor=False)


def open_home(
    path: Path | None = None,
    *,
    passphrase: bytes | None = None,
    unattended: bool = False,
    announce: Callable[[str], None] | None = None,
    allowed: tuple[str, ...] = (),
) -> Home:
    """Open the home at `path` (default: `locate()`); first use makes keys for user and agent, and grants.

    passphrase: opens sealed keys, and seals those that first use makes. unattended: makes a home for
    programs, which its first row says for good; HomeError HOME_ATTENDED where there is one for a person.
    announce: is told what first use made. allowed: folders that tools may read beside the workspace. Raises
    HomeError, KeyringError.
    """
    path = path or locate()
    # Before it is opened, which makes it.
    fresh = not (path / "mcl.db").exists()
    home = Home.open(
        path,
        passphrase=passphrase,
        unattended=unattended,
        allowed=allowed,
        repositories=partial(named_repositories, path),
    )
    if announce is not None:
        if (trouble := home.journal.trouble) is not None:
            announce(f"{trouble.code}: {trouble.message}; nothing is written or run")
            announce(f"  way out: {trouble.fix}")
        elif home.journal.notice:
            announce(home.journal.notice)
    grants, agent = Grants(home), home.keyring.agent.did
    if fresh and announce is not None:
        classes = " and ".join(sorted(grants.classes(agent)))
        sealed = "sealed with a passphrase" if passphrase else "not sealed: mcl key seal"
        announce(f"first use: made the home {home.path}")
        if home.unattended:
            announce("  unattended: programs may do here what else only a person does; all it signs says so")
        announce(f"  user key   {home.keyring.user.did}, {sealed}")
        announce(f"  agent key  {agent}, may {classes} in the workspace of an accepted plan (mcl grant list)")
    return home


def named_repositories(path: Path) -> tuple[str, ...]:
    """The folders that the home at `path` knows as repositories; none where that cannot be read."""
    from mcl.core.errors import RepoError
    from mcl.core.repositories import Repositories

    try:
        return tuple(str(one.path) for one in Repositories(path).all())
    except (RepoError, HomeError):
        return ()


# ---- Signing what a person, or their agent, says about an intent.


def sealed(home: Home, kind: str, body: Body, *, intent: str, at: str, causation: str = "") -> Envelope:
    """An envelope about `intent` (a ULID), signed by the key of the role that its kind belongs to; it is not
    stored yet."""
    user, agent = home.keyring.user, home.keyring.agent
    signer, other = (user, agent) if ROLE_OF_KIND[kind] == "user" else (agent, user)
    header = Header(
        id=home.clock.new_id(),
        at=at,
        from_=signer.did,
        to=other.did,
        intent=f"matrix://intent/{intent}",
        causation_id=causation or None,
    )
    return seal(kind, body, header, signer.signing_key)

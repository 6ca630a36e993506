"""Names that no tool may read or write, whatever its grants."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from ir.characters import INVISIBLE, without

PROTECTED_FOLDERS: Final = frozenset(
    {
        *(".git", "git~1", ".hg", ".jj", ".svn"),  # their settings name programs to run; ~1 is a short name
        *(".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".password-store", ".terraform.d"),
        ".orchestration",
    }
)
PROTECTED_FILES: Final = frozenset(
    {
        *(".env", ".envrc", ".dev.vars", ".secrets", ".netrc", "_netrc", ".pgpass", "pgpass.conf"),
        *(".npmrc", ".pypirc", ".htpasswd", ".git-credentials", ".vault-token", ".my.cnf", ".mylogin.cnf"),
        *(".dockercfg", ".dockerconfigjson", ".boto", ".s3cfg", ".terraformrc", "kubeconfig"),
        *("id_rsa", "id_dsa", "id_ecdsa", "id_ecdsa_sk", "id_ed25519", "id_ed25519_sk", "secring.gpg"),
        *("credentials", "credentials.json", "credentials.toml", "credentials.tfrc.json"),
        *("secrets.json", "secrets.toml", "secrets.yaml", "secrets.yml"),
        *("client_secret.json", "service-account.json", "service_account.json", "serviceaccountkey.json"),
        *(".bash_history", ".zsh_history", ".psql_history", ".mysql_history", ".python_history"),
    }
)
PROTECTED_ENDINGS: Final = (
    *(".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".ppk", ".keytab"),
    *(".env", ".tfstate"),
)
PROTECTED_BEGINNINGS: Final = (".env.", "client_secret_", "gha-creds-")
# Files that exist to be read by strangers and hold no secret, though their names look like it.
TEMPLATES: Final = frozenset(
    {
        *(".env.example", ".env.sample", ".env.template", ".env.dist"),
        *("example.env", "sample.env", "template.env"),
    }
)
# What editors and people add to the name of a file when they keep an older version of it.
_KEPT = re.compile(r"(?:~|\.(?:bak|backup|old|orig|save|copy|tmp|sw[a-p]|[0-9]{1,3}))+\Z")


def is_protected(parts: tuple[str, ...]) -> bool:
    """Tell whether one of the path's components is a protected name, or an older version of one.

    Names are compared as case-insensitive, compatibility-normalised text without invisible characters,
    trailing dots and spaces and what follows a colon, so that ``.ENV``, a full-width spelling or
    ``.env::$DATA`` is no way round on a file system that folds them.
    """
    return any(_named(name) for part in parts for name in readings(part))


def readings(part: str) -> tuple[str, ...]:
    """How a file system may read a component: folded, and also without what follows a colon."""
    if not part.isascii():
        part = unicodedata.normalize("NFKC", part)
        part = without(part, INVISIBLE | {"format"})
    name = part.casefold().rstrip(". ")
    return (name, name.partition(":")[0].rstrip(". ")) if ":" in name else (name,)


def _named(name: str) -> bool:
    if _listed(name):
        return True
    older = _KEPT.sub("", name.strip("#")).removeprefix(".#")
    # Vim hides what it keeps of a visible file behind one more dot.
    return older != name and older not in TEMPLATES and (_listed(older) or _listed(older.removeprefix(".")))


def _listed(name: str) -> bool:
    if name in TEMPLATES:
        return False
    return (
        name in PROTECTED_FOLDERS
        or name in PROTECTED_FILES
        or name.endswith(PROTECTED_ENDINGS)
        or name.startswith(PROTECTED_BEGINNINGS)
    )

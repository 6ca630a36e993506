"""Names that no tool may read or write, whatever its grants."""

from __future__ import annotations

import unicodedata
from fnmatch import fnmatchcase

PROTECTED_FOLDERS = frozenset(
    {".git", ".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".orchestration", ".password-store"}
)
PROTECTED_FILES = (
    ".env",
    ".env.*",
    ".envrc",
    ".netrc",
    "_netrc",
    ".pgpass",
    ".npmrc",
    ".pypirc",
    ".htpasswd",
    ".git-credentials",
    ".vault-token",
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    "*.pem",
    "*.key",
    "*.p12",
    "*.pfx",
    "*.jks",
    "*.keystore",
    "*.kdbx",
    "*.ppk",
    "credentials",
    "credentials.json",
    "secrets.json",
    "secrets.yaml",
    "secrets.yml",
)
# Files that exist to be read by strangers and hold no secret, though their names look like it.
TEMPLATES = frozenset({".env.example", ".env.sample", ".env.template"})


def is_protected(parts: tuple[str, ...]) -> bool:
    """Tell whether one of the path's components is a protected name.

    Names are compared as case-insensitive, compatibility-normalised text without trailing dots and spaces,
    so that ``.ENV`` or a full-width spelling is no way round on a file system that folds them.
    """
    names = [unicodedata.normalize("NFKC", part).casefold().rstrip(". ") for part in parts]
    if any(name in PROTECTED_FOLDERS for name in names):
        return True
    return any(
        name not in TEMPLATES and any(fnmatchcase(name, pattern) for pattern in PROTECTED_FILES)
        for name in names
    )

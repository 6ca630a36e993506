"""Addresses as people read them."""

import re

_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")


def skill_named(ref: str) -> str:
    """The skill that an address means: ``files-find@1.0.0``, or with the beginning of its digest."""
    name, at, version = ref.removeprefix("matrix://skill/").partition("@")
    return name + at + (version.removeprefix("sha256:")[:12] if _DIGEST.fullmatch(version) else version)

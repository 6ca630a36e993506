"""`mcl repo`: work in repositories by a closed contract."""

from mcl.cli.repo.commands import register

__all__ = ["register"]

"""The command line, as tests of the command line have it."""

from tests.cli.conftest import mcl  # noqa: F401  (a fixture)

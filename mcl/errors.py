"""What can go wrong in mcl, in one tree.

MclError                 ir.errors: every error of this project
└── ModelError           a model file, its form, its grammar or its answer

Codes are stable and UPPER_SNAKE; messages may change.
"""

from ir.errors import MclError


class ModelError(MclError):
    """A model file that cannot be used, or an answer that could not be had; `place` is the file."""

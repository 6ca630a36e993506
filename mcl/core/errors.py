"""What can go wrong in mcl, in one tree.

MclError                 ir.errors: every error of this project
├── ModelError           a model file, its form, its grammar or its answer
├── SkillError           a skill, core module or plan template that is missing, wrong or cannot be used
├── InputError           what cannot be compiled: a goal, time, id, zone, slot, verb, skill or answer
├── BatchError           a batch whose input or output cannot be used
├── MemoryStoreError     a memory that cannot be stored, found or proved
├── McpError             a server, a tool of one, or a call that came over MCP, which cannot be used
├── RepoError            a request to a repository that has no route, or cannot be done as it is set up
├── WorkError            work of coding agents that cannot be signed, checked out, completed or named
├── ReviewError          what cannot be reviewed, read as a review, or kept of one
├── HookError            an event of a coding agent's host that cannot be read or judged
└── GraphError           a picture of a plan that cannot be drawn

Codes are stable and UPPER_SNAKE; messages may change.
"""

from collections.abc import Mapping

from ir.errors import REFUSED, MclError

NO_AI = "choose another model (mcl model list), or work without one: --no-ai"  # the way out of a ModelError


class ModelError(MclError):
    """A model file that cannot be used, or an answer that could not be had; `place` is the file."""


class SkillError(MclError):
    """A skill or core module that cannot be used; `data["errors"]` lists all findings of its file."""


class InputError(MclError):
    """What a person gave cannot be compiled; `place` names it (goal, at, id, zone, slot.<name>, …)."""


class BatchError(MclError):
    """A batch whose input or output cannot be used; `place` is the file, with the line where there is one."""


class MemoryStoreError(MclError):
    """A memory that cannot be stored, found or proved; `place` is its address."""


class WorkError(MclError):
    """Work of coding agents that is not as it is asked for; `place` is a label, a file or a field."""

    exit_code = REFUSED


class HookError(MclError):
    """An event of a coding agent's host that cannot be read or judged; `place` is the event or a file."""

    exit_code = REFUSED


class ReviewError(MclError):
    """What cannot be reviewed, read as a review, or kept of one; `place` is a file, a revision or an id."""

    exit_code = REFUSED


class GraphError(MclError):
    """A picture of a plan that cannot be drawn."""


class RepoError(MclError):
    """What is asked of a repository cannot be understood or is not set up; `place` is a key or a file."""


class McpError(MclError):
    """What goes wrong with the Model Context Protocol; `place` is a server, `server:tool`, or an argument.

    example: a call that would not be refused so, "" where there is none.
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        place: str = "",
        fix: str = "",
        example: str = "",
        exit: int | None = None,
        data: Mapping[str, object] | None = None,
    ) -> None:
        super().__init__(code, message, place=place, fix=fix, exit=exit, data=data)
        self.example = example

    def to_json(self) -> dict[str, object]:
        """The error as a JSON object, with its example where there is one."""
        return {**super().to_json(), **({"example": self.example} if self.example else {})}

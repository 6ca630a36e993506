"""What a skill says of the ways in which its runs may fail."""

from collections.abc import Callable, Mapping

from executor.walker import FailureMode
from executor.walker.engine.protocol import Failure
from mcl.core.errors import SkillError
from mcl.language.mtx.ast import File
from mcl.language.skills import Skill


def failure_modes(file: File) -> dict[str, FailureMode]:
    """§FAILURE_MODES as the walker reads them, by name."""
    return {
        mode.name: FailureMode(
            mode.reason.value if mode.reason else "",
            mode.message.value if mode.message else "",
            mode.suggest.value.replace("_", " ") if mode.suggest else "",
        )
        for mode in file.failures
    }


def as_told(file: File, failure: Failure) -> tuple[str, str]:
    """What went wrong and what to do, in the skill's words where it has some for it."""
    told = failure_modes(file).get(failure.code.lower())
    return (told.message, told.suggest) if told else (failure.message, failure.fix)


class SkillFailures:
    """The failure modes of the skill of a plan, looked up when a run fails."""

    def __init__(self, load: Callable[[], Skill]) -> None:
        self._load = load

    def modes(self, skill_ref: str) -> Mapping[str, FailureMode]:
        """The modes of a pinned skill; none where another one, or none that can be read, is installed now."""
        try:
            skill = self._load()
        except SkillError:
            return {}
        return failure_modes(skill.file) if skill.ref == skill_ref else {}

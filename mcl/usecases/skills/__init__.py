"""Skills as files: found, made, checked, laid out, tried and published; what `mcl.skills` offers."""

from mcl.usecases.installed import list_skills as list
from mcl.usecases.installed import show_skill as show
from mcl.usecases.skills.checks import CheckedFile, Published
from mcl.usecases.skills.checks import publish_skill as publish
from mcl.usecases.skills.checks import validate_skill as check
from mcl.usecases.skills.examples import TriedExample, TriedSkill
from mcl.usecases.skills.examples import try_examples as test
from mcl.usecases.skills.files import FormattedFile
from mcl.usecases.skills.files import format_skill as format
from mcl.usecases.skills.files import hash_skill as hash
from mcl.usecases.skills.starter import NewSkill
from mcl.usecases.skills.starter import new_skill as new

__all__ = [
    "CheckedFile",
    "FormattedFile",
    "NewSkill",
    "Published",
    "TriedExample",
    "TriedSkill",
    "check",
    "format",
    "hash",
    "list",
    "new",
    "publish",
    "show",
    "test",
]

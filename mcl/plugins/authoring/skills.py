"""Skills as files: found, made, checked, laid out, tried and published; what `mcl.skills` offers."""

from mcl.plugins.authoring.checks import CheckedFile, Published
from mcl.plugins.authoring.checks import publish_skill as publish
from mcl.plugins.authoring.checks import validate_skill as check
from mcl.plugins.authoring.examples import TriedExample, TriedSkill
from mcl.plugins.authoring.examples import try_examples as test
from mcl.plugins.authoring.files import FormattedFile
from mcl.plugins.authoring.files import format_skill as format
from mcl.plugins.authoring.files import hash_skill as hash
from mcl.plugins.authoring.starter import NewSkill
from mcl.plugins.authoring.starter import new_skill as new
from mcl.usecases.installed import list_skills as list
from mcl.usecases.installed import show_skill as show

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

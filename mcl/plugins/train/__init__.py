"""Teaching the model in use the skills of a user, from their examples."""

from mcl.plugins.train.lessons import Lesson, Value
from mcl.plugins.train.measure import Figures
from mcl.plugins.train.run import Tuned, tune

__all__ = ["Figures", "Lesson", "Tuned", "Value", "tune"]

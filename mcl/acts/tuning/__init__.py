"""Teaching the model in use the skills of a user, from their examples."""

from mcl.acts.tuning.lessons import Lesson, Value
from mcl.acts.tuning.measure import Figures
from mcl.acts.tuning.run import Tuned, tune

__all__ = ["Figures", "Lesson", "Tuned", "Value", "tune"]

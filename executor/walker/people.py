"""What was once here is in `questions`; this goes with the next commit."""

from executor.walker.questions import AlwaysApprove, AlwaysDeny, GateAnswer, GateQuestion, People

__all__ = ["AlwaysApprove", "AlwaysDeny", "GateAnswer", "GateQuestion", "People"]

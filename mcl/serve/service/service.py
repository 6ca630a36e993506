"""All that one server process does for its clients: a session, and what goes on in it from call to call."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from executor.store.home import Home
from mcl.serve.finding.shelf import Shelves
from mcl.serve.service.refusals import Refusals
from mcl.serve.session import Session

if TYPE_CHECKING:
    from mcl.serve.questions.questions import Questions
    from mcl.serve.service.compiling import Compiling
    from mcl.serve.service.runs import Runs


class Service(Session):
    """A session with its questions to people, its runs, the tools that can be found, and who was refused.

    Args:
        questions, runs: open, of the same home, and not closed here. compiling: makes Intents of goals.
        session: as of ``Session``.

    Raises:
        What ``Session`` raises.
    """

    def __init__(
        self,
        home: Home,
        workspace: Path,
        *,
        questions: Questions,
        runs: Runs,
        compiling: Compiling,
        **session: Any,
    ) -> None:
        super().__init__(home, workspace, **session)
        self.questions, self.runs, self.compiling = questions, runs, compiling
        self.shelves, self.refusals = Shelves(), Refusals(home)

"""`mcl do`, and `mcl "…"`: a goal compiled, shown once, signed and run in one step."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from mcl.cli.arguments import (
    AsJson,
    ModelPath,
    NoAi,
    SkillDirectories,
    Workspace,
    Yes,
    argument,
    as_typed,
    option,
    verb,
)
from mcl.cli.home import a_persons, use_home
from mcl.cli.output import Output, note, tell_result

if TYPE_CHECKING:
    from executor.store.home import Home
    from mcl.compiler.outcome import Clarify, Compiled, Refused
    from mcl.usecases.do import DoOutcome
    from mcl.usecases.do_proposal import DoProposal

verbs = typer.Typer()


@verb(verbs, "do")
def do_command(
    goal: Annotated[
        list[str],
        argument("GOAL", "What you want, in plain words; - reads standard input.", show_default=False),
    ],
    skill: Annotated[str, option("--skill SKILL", "Use this skill; do not choose one.")] = "",
    verb: Annotated[str, option("--verb VERB", "Use this verb; do not choose one.")] = "",
    slot: Annotated[
        list[str] | None, option("--slot NAME=VALUE", "Fill a slot yourself; may be given several times.")
    ] = None,
    yes: Yes = False,
    workspace: Workspace = None,
    model: ModelPath = None,
    no_ai: NoAi = False,
    skills: SkillDirectories = None,
    as_json: AsJson = False,
) -> int:
    """Understand a goal, show what it comes to once, sign it and run it.

    What only reads, and the gate allows without a question, is run at once (mcl config set do.reads ask).
    Without a terminal it compiles and no more. --yes signs unseen, but nothing that is to be read with care.

    Exit codes: 0 done, 3 there are questions, or it is to be read with care, 4 refused, or you did not
    agree, 5 failed.
    """
    from mcl.cli.compile import assignments, may_ask, read_goal
    from mcl.usecases.authority.door import may_answer, nobody_here

    out = Output(as_json)
    at_terminal = may_ask(out, no_ask=yes)
    with a_persons() if at_terminal and not nobody_here() else nullcontext():
        home = use_home(signs=True)
    asks = at_terminal and may_answer(home)
    if at_terminal and not asks:
        note(f"nothing is signed here: {nobody_here()}")
    task = DoTask(
        home,
        out,
        asks=asks,
        yes=yes,
        model=model,
        ai=not no_ai,
        workspace=workspace,
        skills=tuple(skills or ()),
    )
    given = {"skill": skill or None, "verb": verb or None, "slots": assignments(slot or [], "slot")}
    said = " ".join(map(as_typed, goal))
    return task.carry_out(read_goal(said), **given)


@dataclass(frozen=True)
class DoTask:
    """One goal on its way. asks: a person sits here; yes: nobody is asked, and it is signed unseen. The rest:
    as they were given to the command."""

    home: "Home"
    out: Output
    asks: bool
    yes: bool
    model: Path | None = None
    ai: bool = True
    workspace: Path | None = None
    skills: tuple[Path, ...] = ()

    def carry_out(self, goal: str, **given: object) -> int:
        """Compile it, and go on. given: what was fixed beforehand. The exit code."""
        from mcl.compiler.outcome import Clarify
        from mcl.usecases.compile import compile_goal
        from mcl.usecases.follow_up_words import follow_up_in

        follows = follow_up_in(goal) if not any(given.values()) and (self.asks or self.yes) else None
        if follows is not None and follows.undo:
            return self._undo()
        if follows is not None and (proposal := self._follow_up(goal)) is not None:
            return self._agree(proposal)
        result = compile_goal(
            goal,
            home=self.home,
            model=self.model,
            ai=self.ai,
            skills=self.skills,
            workspace=self.workspace,
            **given,  # type: ignore[arg-type]
        )
        if isinstance(result, Clarify) and self.asks:
            from ir.errors import CLARIFY
            from mcl.cli.asking import Asking

            asking = Asking(self.home, self.out, self.model, self.ai, self.skills)
            cleared = asking.cleared(result)
            if cleared is None:
                return CLARIFY
            result = cleared
        return self.go_on(result)

    def go_on(self, result: "Compiled | Clarify | Refused") -> int:
        """Show what came of a compile, ask, sign and run. The exit code."""
        from ir.schedule import recurs
        from mcl.compiler.outcome import Compiled

        if isinstance(result, Compiled) and recurs(result.intent):
            note(
                f"it is to run again and again, which is signed as that: mcl schedule sign {result.intent.id}"
            )
            return tell_result(result, self.out, self.home, stored=True)
        if not isinstance(result, Compiled) or result.plan is None or not (self.asks or self.yes):
            return tell_result(result, self.out, self.home, stored=True)
        from mcl.usecases.do_proposal import propose

        with self._unsigned_at_ctrl_c(result.intent.id):
            proposal = propose(result, **self._there)
        return self._agree(proposal)

    @property
    def _there(self) -> "dict[str, Any]":
        return {
            "workspace": self.workspace,
            "skills": self.skills,
            "model": self.model,
            "ai": self.ai,
            "home": self.home,
        }

    def _follow_up(self, goal: str) -> "DoProposal | None":
        """What goes on from the last goal; on a terminal what that leaves open is asked first."""
        from functools import partial

        from mcl.cli.correct import asked_until_clear
        from mcl.usecases.follow_up import follow_up

        return asked_until_clear(self.out, partial(follow_up, goal, **self._there), {}, ask=self.asks)

    def _undo(self) -> int:
        """Put back what the last run changed, as `mcl undo` does."""
        from mcl.cli.run import undo_shown
        from mcl.usecases.follow_up import last_with_files

        last = last_with_files(self.home)
        if not last:
            note("no run has changed a file that could be put back")
            return 0
        return undo_shown(self.home, self.out, last, workspace=self.workspace, check=False, yes=self.yes)

    def _agree(self, proposal: "DoProposal") -> int:
        """Run what only reads; else show, ask, and do as is said."""
        from mcl.usecases.do import runs_reads
        from mcl.usecases.do_proposal import refusal_of

        with self._unsigned_at_ctrl_c(proposal.id):
            if refused := refusal_of(proposal):
                return self._refused(proposal, *refused)
            if proposal.only_reads and runs_reads(self.home):
                return self._run(proposal, unseen=True)
            if self.yes and proposal.review:
                return self._left(proposal, f"to be read with care: {proposal.review}", "NEEDS_REVIEW")
            if self.yes:
                return self._run(proposal, unseen=True)
            from mcl.cli.agreement import Agreement, agreement_on

            word, goal = agreement_on(proposal, self.out, self.home)
        if word is Agreement.EDIT:
            self._unsigned(proposal, "it was said otherwise")
            return self.carry_out(goal)
        if word is Agreement.NO:
            return self._left(proposal, "the person did not agree")
        return self._run(proposal, approve=word is Agreement.APPROVE)

    # ---- What is signed, and what is not.

    def _run(self, proposal: "DoProposal", *, approve: bool = False, unseen: bool = False) -> int:
        from mcl.cli.run import display_of, people_of
        from mcl.usecases.authority.door import may_answer
        from mcl.usecases.do import carry_out

        quiet = proposal.only_reads or self.out.as_json
        plan = proposal.planned.unfolded
        display, listener = (nullcontext(), None) if quiet else display_of(proposal.id, plan, self.out)
        answers = may_answer(self.home)
        people = None
        if not proposal.only_reads:
            people = people_of(self.home, listener, yes=False, no=self.yes or not answers, wait=False)
        try:
            with display:
                done = carry_out(
                    proposal,
                    approve=approve,
                    unseen=unseen,
                    people=people,
                    listener=listener,
                    **self._there,
                )
        except KeyboardInterrupt:
            note(f"interrupted; go on with it: mcl run {proposal.id} --resume")
            raise
        return self._told(proposal, done)

    def _told(self, proposal: "DoProposal", done: "DoOutcome") -> int:
        from mcl.cli.views.agreement import done_view
        from mcl.usecases.documents import of_done

        self.out.document(of_done(done, self.home))
        if not self.out.as_json:
            self.out.tell(done_view(proposal, done))
            kept = proposal.before and self.home.journal.rows(
                proposal.before, kind="record.undo.kept", limit=1
            )
            if kept:
                note(f"what the run before changed is still so: mcl undo {proposal.before}")
        return done.exit

    def _refused(self, proposal: "DoProposal", code: str, why: str) -> int:
        from ir import MclError
        from ir.errors import REFUSED

        self._unsigned(proposal, why, code)
        if not self.out.as_json:
            from mcl.cli.views.agreement import proposal_view

            self.out.tell(proposal_view(proposal, self.out.people))
        raise MclError(
            "PLAN_REFUSED",
            f"{code}: {why}",
            place=proposal.id,
            fix=f"nothing was signed; mcl plan {proposal.id} tells all",
            exit=REFUSED,
        )

    def _left(self, proposal: "DoProposal", why: str, code: str = "NOT_SIGNED") -> int:
        from mcl.usecases.do import DoOutcome
        from mcl.usecases.documents import of_done

        self._unsigned(proposal, why, code)
        done = DoOutcome(proposal.compiled, code=code, why=why)
        self.out.document(of_done(done, self.home))
        note(f"nothing was signed: {why} (mcl accept {proposal.id})")
        return done.exit

    def _unsigned(self, proposal: "DoProposal", why: str, code: str = "NOT_SIGNED") -> None:
        from mcl.usecases.do import leave_unsigned

        leave_unsigned(proposal.id, why, code=code, home=self.home)

    @contextmanager
    def _unsigned_at_ctrl_c(self, id: str) -> Iterator[None]:
        try:
            yield
        except KeyboardInterrupt:
            from mcl.usecases.do import leave_unsigned

            with suppress(KeyboardInterrupt):
                leave_unsigned(id, "interrupted before anything was signed", home=self.home)
            raise


GROUPS: Final = (verbs,)

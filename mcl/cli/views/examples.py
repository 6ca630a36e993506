"""What came of a skill's examples."""

from collections.abc import Iterator, Sequence

from rich.console import RenderableType

from mcl.cli.views.layout import BAD, DIM, GOOD, STRONG, WARN, columns, joined, plain
from mcl.usecases.skills.examples import TriedExample, TriedSkill


def tried_view(tried: TriedSkill) -> Iterator[RenderableType]:
    """A skill, then a line for each example: how it went, the goal, and what was understood."""
    if tried.error is not None:
        yield joined((("BAD", BAD), (tried.id, STRONG), (str(tried.error), "")))
        return
    told = _counted([tried]) if tried.examples else "has no examples"
    style = DIM if not tried.examples else GOOD if tried.ok else BAD
    yield joined(((tried.id, STRONG), (told, style)))
    for example in tried.examples:
        word, mark = _mark(tried, example)
        yield columns([(("  " + word, mark), (example.text, ""))])
        yield columns([((" " * (2 + len(word)), ""), (line, DIM)) for line in _lines(tried, example)])


def tried_summary(tried: Sequence[TriedSkill]) -> RenderableType:
    """How many examples were understood."""
    ok = all(one.ok for one in tried)
    passed, _, asked = _counted(tried).partition(",")
    return plain(f"{passed} examples are understood{',' if asked else ''}{asked}", GOOD if ok else BAD)


def _counted(tried: Sequence[TriedSkill]) -> str:
    examples = [example for one in tried for example in one.examples]
    asked = sum(example.asked for example in examples)
    also = f", {asked} {'asks' if asked == 1 else 'ask'} something" if asked else ""
    return f"{sum(example.understood for example in examples)} of {len(examples)}{also}"


def tried_document(tried: TriedSkill) -> dict[str, object]:
    """A tried skill for a program."""
    return {
        "skill": tried.id,
        "path": str(tried.path),
        "ok": tried.ok,
        "error": tried.error.to_json() if tried.error else None,
        "examples": [
            {
                "text": example.text,
                "ok": example.ok,
                "understood": example.understood,
                "outcome": example.outcome,
                "chosen": example.chosen,
                "verb": example.verb,
                "slots": {name: list(values) for name, values in (example.slots or {}).items()},
                "questions": [{"field": one.field, "prompt": one.prompt} for one in example.questions],
                "plan": example.plan is not None,
                "message": example.message,
            }
            for example in tried.examples
        ],
    }


def _mark(tried: TriedSkill, example: TriedExample) -> tuple[str, str]:
    if example.ok:
        return ("asks    ", WARN) if example.asked else ("ok      ", GOOD)
    return {"refused": "refused ", "failed": "failed  "}.get(example.outcome, "BAD     "), BAD


def _lines(tried: TriedSkill, example: TriedExample) -> Iterator[str]:
    if example.chosen and example.chosen != tried.id:
        yield f"chosen was {example.chosen}"
    said = "  ".join(f"{name}={', '.join(values)}" for name, values in (example.slots or {}).items())
    if example.verb:
        yield f"{example.verb}  {said}".rstrip()
    for question in example.questions:
        yield f"asks {question.field}: {question.prompt}"
    if example.message:
        yield example.message

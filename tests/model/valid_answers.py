"""What every model's answers must be, whatever its weights and whatever the prose."""

import math

from mcl.model import form
from mcl.model.protocol import REST


def check_choice(choice, candidates) -> None:
    by_id = {candidate.skill_id: candidate for candidate in candidates}
    assert choice.skill_id is None or choice.skill_id in by_id
    if choice.skill_id is not None:
        assert choice.verb in (by_id[choice.skill_id].verbs or form.VERBS)
    assert [skill for skill, _ in choice.probabilities] == [*by_id, ""]
    chances = [chance for _, chance in choice.probabilities]
    assert math.isclose(sum(chances), 1.0, abs_tol=1e-6)
    assert choice.skill_probability == max(chances)
    assert 0.0 <= choice.verb_probability <= 1.0 + 1e-9


def check_spans(spans, prose, extract_form) -> None:
    slots = {f"slot.{slot.name}": slot for slot in extract_form.slots}
    counts: dict[str, int] = {}
    for span in spans:
        assert span.field in slots or span.field in form.FIELDS or span.field == REST
        assert 0.0 <= span.probability <= 1.0 + 1e-9
        counts[span.field] = counts.get(span.field, 0) + 1
        slot = slots.get(span.field)
        if slot and slot.options:
            assert span.value in slot.options
        else:
            assert span.start is not None
            assert span.end is not None
            assert 0 <= span.start < span.end <= len(prose)
            assert span.value == prose[span.start : span.end]
            assert span.value.strip()
    for field, count in counts.items():
        if field in slots:
            assert count <= slots[field].many

"""What margins count beside a model's own choice (grammars/core/verb.mtx), fitted on development goals.

python -m training.choosing --data ../shared/data [--model FILE] [--limit 1000]

For each set the model chooses among the set's whole catalogue, as in a compile; `weight.familiar`,
`margin.familiar` and `sharpness.familiar` are those under which what is right was most probable.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.optimize import minimize

from mcl.compiler.stages.rules import Rules
from mcl.language.mtx.core import load_core
from mcl.language.skills import Skills, find_skills, skill_folders
from mcl.model.encoder import EncoderModel
from mcl.model.loader import load_model
from mcl.model.protocol import Candidate
from mcl.plugins.train.tuner import development
from mcl.plugins.train.tuner.generator.skills import GENERAL
from training import corpora, written
from training.answers import calibration_error
from training.corpus_skills import OUT_OF_SCOPE, shelf_id, shelf_of, write_shelf

OWN, HANDS = "own goals", "goals of other writers"
_LEAST = 1e-6


@dataclass(frozen=True)
class MarginWeights:
    """As in the module `verb`."""

    weight: float
    margin: float
    sharpness: float


@dataclass(frozen=True)
class ChosenGoals:
    """Goals of a set: shares [n, 1 + skills] (the first of none), margins [n, skills] (NaN: not taught), and
    the place of what is right among the shares."""

    shares: np.ndarray
    margins: np.ndarray
    right: np.ndarray

    def weighed(self, weights: MarginWeights) -> np.ndarray:
        """Shares as a compile has them (mcl/compiler/stages/classify.py)."""
        taught = ~np.isnan(self.margins)
        factors = np.where(taught, weights.weight * (self.margins - weights.margin), 0.0)
        scores = np.log(np.maximum(self.shares, 1e-30))
        scores[:, 1:] += factors
        shares = _shared(scores)
        known = (shares[:, 1:] * taught).sum(1, keepdims=True)
        return _shared(np.log(np.maximum(shares, 1e-30)) * (1 - (1 - weights.sharpness) * known))


def _shared(scores: np.ndarray) -> np.ndarray:
    shares = np.exp(scores - scores.max(1, keepdims=True))
    return np.asarray(shares / shares.sum(1, keepdims=True))


def asked(model: EncoderModel, skills: Skills, goals: Sequence[tuple[str, str]]) -> ChosenGoals:
    """What the model says of goals; each with the id of its skill, "" for none."""
    shown = [
        Candidate(one.id, one.display, one.description, one.verbs, one.examples, one.takes_any)
        for one in skills
    ]
    places = {one.skill_id: place for place, one in enumerate(shown, 1)} | {"": 0}
    shares, margins = [], []
    for text, _ in goals:
        chosen = model.choose(text, shown).probabilities
        shares.append([chosen[-1][1], *(share for _, share in chosen[:-1])])
        said = model.margins(text, shown) or (None,) * len(shown)
        margins.append([np.nan if one is None else one for one in said])
    right = np.array([places[skill] for _, skill in goals])
    return ChosenGoals(np.array(shares), np.array(margins, float), right)


def all_sets(model: EncoderModel, data: Path, limit: int) -> dict[str, ChosenGoals]:
    """The development sets, and our own goals. limit: goals a set, but for those out of scope."""
    corpus = corpora.load(data)
    found = {}
    for name, utterances in corpora.dev_sets(corpus).items():
        source = name.split()[0]
        occurring = {one.skill for one in utterances} if source == "sgd" else None
        opening = [one for one in utterances if one.opens]
        outside = [one for one in opening[limit:] if one.skill[1] == OUT_OF_SCOPE]
        goals = [
            (one.text, "" if one.skill[1] == OUT_OF_SCOPE else shelf_id(one.skill[1]))
            for one in (*opening[:limit], *outside)
        ]
        with tempfile.TemporaryDirectory() as folder:
            if len(write_shelf(shelf_of(corpus, source, occurring), Path(folder))) > 1:
                found[name] = asked(model, find_skills([Path(folder)]), goals)
    own = [(one.text, "" if one.skill[1] == "none" else one.skill[1]) for one in development.load()]
    found[OWN] = asked(model, development.shipped(), own)
    shipped = find_skills(skill_folders(None))
    hands = [
        (text, (skill if skill in shipped.ids else GENERAL.name) if verb else "")
        for text, skill, verb in written.of_one_wish(("development",))
    ]
    found[HANDS] = asked(model, shipped, hands)
    return found


def fit(sets: Mapping[str, ChosenGoals], start: MarginWeights) -> MarginWeights:
    """The weights under which what is right was most probable, each set counting the same."""

    def weights(x: np.ndarray) -> MarginWeights:
        return MarginWeights(max(0.0, float(x[0])), float(x[1]), min(1.0, max(0.05, float(x[2]))))

    def loss(x: np.ndarray) -> float:
        return sum(surprise(one, weights(x)) for one in sets.values())

    begin = [start.weight, start.margin, start.sharpness]
    found = minimize(loss, begin, method="Nelder-Mead", options={"maxfev": 150, "xatol": 0.01, "fatol": 1e-4})
    return weights(found.x)


def surprise(goals: ChosenGoals, weights: MarginWeights) -> float:
    """Mean of -log of the share of what is right."""
    shares = goals.weighed(weights)[np.arange(len(goals.right)), goals.right]
    return float(-np.log(np.maximum(shares, _LEAST)).mean())


def line(name: str, goals: ChosenGoals, weights: MarginWeights | None) -> str:
    """In per cent: right, refused of those in scope, refused of others, how far off certainties are."""
    shares = goals.weighed(weights) if weights else goals.shares
    best, inside = shares.argmax(1), goals.right > 0
    right = best == goals.right
    off = calibration_error(list(zip(shares.max(1).tolist(), right.tolist(), strict=True)))
    out = f"{100 * (best[~inside] == 0).mean():.1f}" if not inside.all() else "–"
    taught = f"{int((~np.isnan(goals.margins[0])).sum())} of {goals.margins.shape[1]}"
    good, lost = 100 * right[inside].mean(), 100 * (best[inside] == 0).mean()
    return f"| {name} | {inside.sum()} | {taught} | {good:.1f} | {lost:.1f} | {out} | {100 * off:.1f} |"


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--model", type=Path, help="a GGUF (default: the bundled one)")
    parser.add_argument("--limit", type=int, default=1000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        model = load_model(given.model, home_path=Path(home))
        if not isinstance(model, EncoderModel):
            raise SystemExit("this model does not encode")
        sets = all_sets(model, given.data, given.limit)
    rules = Rules.of(load_core())
    now = MarginWeights(rules.familiar_weight, rules.familiar_margin, rules.familiar_share)
    found = fit({name: one for name, one in sets.items() if not np.isnan(one.margins).all()}, now)
    for title, weights in (("the model alone", None), ("as it is", now), ("fitted", found)):
        print(f"\n{title}: {weights or ''}\n| set | goals | taught | right | refused | none: refused | ECE |")
        print("|---|---|---|---|---|---|---|")
        print("\n".join(line(name, one, weights) for name, one in sets.items()), flush=True)


if __name__ == "__main__":
    main()

"""What the bundled model reads of the shipped skills, read once and shipped beside it.

python -m training.shipped_vectors

To be run again when the model or what a shipped skill says of itself has changed: a test tells.
"""

from __future__ import annotations

from mcl.compiler.stages.classify import candidate_of
from mcl.compiler.stages.extract import form_of
from mcl.language.skills import find_skills, skill_folders
from mcl.model.encoder import EncoderModel
from mcl.model.loader import bundled_path, load_model, shipped_path
from mcl.model.protocol import ExtractForm


def prepare(model: EncoderModel) -> None:
    """Have the shipped skills read."""
    skills = list(find_skills(skill_folders(None)))
    model.prepare([candidate_of(skill) for skill in skills])
    for skill in skills:
        slots = tuple(form_of(slot) for slot in skill.slots)
        model.prepare(ExtractForm(skill.id, skill.description, slots))


def main() -> None:
    """Write the file."""
    model = load_model(bundled_path(), home_path=None)
    assert isinstance(model, EncoderModel)
    prepare(model)
    data = bytes.fromhex(model.digest) + model.texts.data()
    shipped_path().write_bytes(data)
    print(f"{shipped_path().name}: {len(data):,} bytes")


if __name__ == "__main__":
    main()

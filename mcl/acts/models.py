"""The models a home knows: added by hand, one of them in use; the bundled one is always there."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from executor.home import Home
from mcl.errors import ModelError

if TYPE_CHECKING:
    from mcl.model import Model

BUNDLED, NO_AI = "bundled", "no-ai"
_TABLES = (
    """
    CREATE TABLE models (digest TEXT PRIMARY KEY, name TEXT NOT NULL UNIQUE, path TEXT NOT NULL,
        added_at TEXT NOT NULL) STRICT;
    CREATE TABLE model_in_use (one INTEGER PRIMARY KEY CHECK (one = 1), name TEXT NOT NULL) STRICT;
    """,
)


@dataclass(frozen=True)
class KnownModel:
    """One model. digest: sha256 (hex) of the file, or of the matcher's tables; path: None for the matcher."""

    name: str
    digest: str
    path: Path | None
    in_use: bool = False


class Models:
    """The models of a home, by name and digest."""

    def __init__(self, home: Home) -> None:
        home.db.migrate("models", _TABLES)
        self._home = home

    def list(self) -> tuple[KnownModel, ...]:
        """The bundled model (where one was built in), the matcher, then those added."""
        used = self._used()
        return tuple(
            KnownModel(model.name, model.digest, model.path, model.name == used) for model in self._known()
        )

    def add(self, path: Path, *, name: str = "") -> KnownModel:
        """Remember a GGUF after checking that it loads. Raises ModelError."""
        from mcl.model.file import open_model_file

        file = open_model_file(path, home_path=self._home.path)
        name = name or path.stem
        if name in (BUNDLED, NO_AI):
            raise ModelError("MODEL_NAME", f"{name} is a fixed name", place="name", fix="give another --name")
        with self._home.db.write() as connection:
            connection.execute("DELETE FROM models WHERE name = ? OR digest = ?", (name, file.digest))
            connection.execute(
                "INSERT INTO models VALUES (?, ?, ?, ?)",
                (file.digest, name, str(file.path), self._home.clock.now()),
            )
        return KnownModel(name, file.digest, file.path, name == self._used())

    def use(self, name: str) -> KnownModel:
        """Compile with this model from now on. Raises ModelError MODEL_UNKNOWN."""
        found = self.find(name)
        with self._home.db.write() as connection:
            connection.execute(
                "INSERT INTO model_in_use VALUES (1, ?) ON CONFLICT (one) DO UPDATE SET name = excluded.name",
                (found.name,),
            )
        return KnownModel(found.name, found.digest, found.path, True)

    def find(self, text: str) -> KnownModel:
        """The model with this name, digest, or unique beginning of a digest.

        Raises ModelError MODEL_UNKNOWN.
        """
        known = self.list()
        found = [one for one in known if text in (one.name, one.digest)]
        found = found or [one for one in known if len(text) >= 6 and one.digest.startswith(text)]
        if len(found) != 1:
            names = ", ".join(one.name for one in known)
            raise ModelError(
                "MODEL_UNKNOWN", f"no model is called {text}", place=text, fix=f"one of: {names}"
            )
        return found[0]

    def open(self, *, path: Path | None = None, ai: bool = True) -> "Model":
        """The model to compile with: the file at `path`, the matcher without `ai`, else the one in use.

        Raises ModelError.
        """
        used = BUNDLED if path or not ai else self._used()
        if not ai or used == NO_AI:
            from mcl.model.matcher import Matcher
            from mcl.mtx.core import core_of

            return Matcher(core_of(self._home.path))
        from mcl.model.opening import load_model

        if path is None and used != BUNDLED:
            path = self.find(used).path
        return load_model(path, home_path=self._home.path)

    def with_digest(self, digest: str) -> "Model | None":
        """The model that an Intent was compiled with, or None where this home does not have it.

        Raises ModelError where the file is there and cannot be used.
        """
        for model in self._known():
            if model.digest == digest:
                return self.open(path=model.path, ai=model.path is not None)
        return None

    def _used(self) -> str:
        rows = self._home.db.read("SELECT name FROM model_in_use")
        return str(rows[0][0]) if rows else BUNDLED

    def _known(self) -> Iterator[KnownModel]:
        from mcl.model.cues import load_cues
        from mcl.model.file import open_model_file
        from mcl.model.opening import bundled_path

        try:
            bundled = open_model_file(bundled_path(), home_path=self._home.path)
            yield KnownModel(BUNDLED, bundled.digest, bundled.path)
        except ModelError as error:
            if error.code != "MODEL_MISSING":
                raise
        yield KnownModel(NO_AI, load_cues().digest, None)
        for digest, name, path in self._home.db.read(
            "SELECT digest, name, path FROM models ORDER BY added_at"
        ):
            yield KnownModel(name, digest, Path(path))

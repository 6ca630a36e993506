"""The models a home knows: added by hand, one of them in use; the bundled one is always there."""

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from executor.store.home import Home
from mcl.core.errors import ModelError
from mcl.core.home import open_home

if TYPE_CHECKING:
    from mcl.compiler.tape import Unloaded
    from mcl.language.mtx.core import Core
    from mcl.model import Model

BUNDLED, NO_AI = "bundled", "no-ai"
_TABLES = (
    """
    CREATE TABLE models (digest TEXT PRIMARY KEY, name TEXT NOT NULL UNIQUE, path TEXT NOT NULL,
        added_at TEXT NOT NULL) STRICT;
    CREATE TABLE model_in_use (one INTEGER PRIMARY KEY CHECK (one = 1), name TEXT NOT NULL) STRICT;
    """,
    "ALTER TABLE models ADD COLUMN spaced INTEGER NOT NULL DEFAULT 0;",
)
_LONGEST_NAME = 64


@dataclass(frozen=True)
class KnownModel:
    """One model. digest: sha256 (hex) of the file, or of the matcher's tables; path: None for the matcher.

    spaced: its JSON has a blank behind `,` and `:`. fault: the code of what is wrong with its file, as far as
    that shows without loading it; "" for nothing.
    """

    name: str
    digest: str
    path: Path | None
    in_use: bool = False
    spaced: bool = False
    fault: str = ""


class Models:
    """The models of a home, by name and digest."""

    def __init__(self, home: Home) -> None:
        home.db.migrate("models", _TABLES)
        self._home = home

    def list(self) -> tuple[KnownModel, ...]:
        """The bundled model (where one was built in), the matcher, then those added."""
        used = self._used()
        return tuple(replace(model, in_use=model.name == used) for model in self._known())

    def add(self, path: Path, *, name: str = "", spaced: bool = False) -> KnownModel:
        """Remember a GGUF after checking that it loads; one that is known already gets this name and path.

        name: the file's own by default. spaced: it writes JSON better with a blank behind `,` and `:` (for a
        model without a form of its own). Raises ModelError, MODEL_NAME among them.
        """
        from mcl.model.files import open_model_file

        name = _usable(name or path.stem)
        file = open_model_file(path, home_path=self._home.path)
        place = _text_of(file.path)
        with self._home.db.write() as connection:
            rows = "SELECT digest, name, path FROM models WHERE name = ? OR digest = ? OR path = ?"
            before = connection.execute(rows, (name, file.digest, place)).fetchall()
            for digest, taken, where in before:
                if taken == name and digest != file.digest and where != place:
                    raise _name(name, f"another model is called {name}: {where}")
            if self._used() in [taken for _, taken, _ in before]:
                connection.execute("UPDATE model_in_use SET name = ?", (name,))
            connection.execute(
                "DELETE FROM models WHERE name = ? OR digest = ? OR path = ?", (name, file.digest, place)
            )
            connection.execute(
                "INSERT INTO models VALUES (?, ?, ?, ?, ?)",
                (file.digest, name, place, self._home.clock.now(), spaced),
            )
        return KnownModel(name, file.digest, file.path, name == self._used(), spaced)

    def remove(self, name: str) -> KnownModel:
        """Forget a model; its file stays. Where it was in use, the bundled one is from now on.

        Raises ModelError MODEL_UNKNOWN, MODEL_NAME.
        """
        found = self.find(name)
        if found.name in (BUNDLED, NO_AI):
            raise ModelError("MODEL_NAME", f"{found.name} always stays", place="name", fix="mcl model list")
        with self._home.db.write() as connection:
            connection.execute("DELETE FROM models WHERE name = ?", (found.name,))
            connection.execute("DELETE FROM model_in_use WHERE name = ?", (found.name,))
        return found

    def use(self, name: str) -> KnownModel:
        """Compile with this model from now on.

        Raises ModelError: MODEL_UNKNOWN, MODEL_CHANGED, and what its file is refused with.
        """
        found = self.find(name)
        self._checked(found)
        with self._home.db.write() as connection:
            connection.execute(
                "INSERT INTO model_in_use VALUES (1, ?) ON CONFLICT (one) DO UPDATE SET name = excluded.name",
                (found.name,),
            )
        return replace(found, in_use=True)

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

    def open(self, *, path: Path | None = None, ai: bool = True, core: "Core | None" = None) -> "Model":
        """The model to compile with: the file at `path`, the matcher without `ai`, else the one in use.

        core: the core modules of the home, where they were read already. Raises ModelError.
        """
        used = BUNDLED if path or not ai else self._used()
        if not ai or used == NO_AI:
            from mcl.language.mtx.core import core_of
            from mcl.model.matcher import PatternMatcher

            return PatternMatcher(core or core_of(self._home.path))
        from mcl.model.loader import load_model

        path, spaced = self._file(path)
        return load_model(path, home_path=self._home.path, spaced=spaced)

    def named(self, model: Path) -> Path:
        """The file of a model that is named as `mcl model list` names it; else the path as it is."""
        known = next((one.path for one in self._known() if one.name == str(model)), None)
        return model if known is None or model.exists() else known

    def unloaded(self, path: Path | None) -> "Unloaded | Model":
        """The file at `path`, else the model in use, checked, and loaded only when it is asked; the matcher,
        where it is in use, as it is. Raises ModelError.
        """
        if path is None and self._used() == NO_AI:
            return self.open()
        from mcl.compiler.tape import Unloaded
        from mcl.model.files import open_model_file
        from mcl.model.loader import bundled_path

        file, spaced = self._file(path)
        digest = open_model_file(file or bundled_path(), home_path=self._home.path).digest
        return Unloaded(digest, lambda: self.open(path=path), "spaced" if spaced else "")

    def _file(self, path: Path | None) -> tuple[Path | None, bool]:
        """The file at `path`, else that of the model in use (None: the bundled one), and whether it writes
        JSON with blanks. Raises ModelError."""
        if path is not None:
            place = Path(os.path.abspath(path))  # noqa: PTH100 - as open_model_file names it
            return path, any(model.spaced for model in self._added() if model.path == place)
        if self._used() == BUNDLED:
            return None, False
        found = self.find(self._used())
        self._checked(found)
        return found.path, found.spaced

    def with_digest(self, digest: str) -> "Model | None":
        """The model that an Intent was compiled with, or None where this home does not have it.

        Raises ModelError where the file is there and cannot be used.
        """
        for model in self._known():
            if model.digest == digest:
                if model.path is None:
                    return self.open(ai=False)
                try:
                    self._checked(model)
                except ModelError as error:
                    if error.code in ("MODEL_MISSING", "MODEL_CHANGED"):
                        continue
                    raise
                return self.open(path=model.path)
        return None

    def _checked(self, model: KnownModel) -> None:
        """Raise ModelError where a model's file is not the one that was added."""
        from mcl.model.files import open_model_file

        if model.path is None:
            return
        digest = open_model_file(model.path, home_path=self._home.path).digest
        if model.name != BUNDLED and digest != model.digest:
            raise ModelError(
                "MODEL_CHANGED",
                f"the file of {model.name} is another one than was added (sha256 {digest[:12]})",
                place=str(model.path),
                fix="mcl model add it again, or choose another model (mcl model list), or none: --no-ai",
            )

    def _used(self) -> str:
        rows = self._home.db.read("SELECT name FROM model_in_use")
        return str(rows[0][0]) if rows else BUNDLED

    def _known(self) -> Iterator[KnownModel]:
        from mcl.model.cues import load_cues
        from mcl.model.files import open_model_file
        from mcl.model.loader import bundled_path

        try:
            bundled = open_model_file(bundled_path(), home_path=self._home.path)
            yield KnownModel(BUNDLED, bundled.digest, bundled.path)
        except ModelError as error:  # told where it is asked for; the others must be reachable without it
            if error.code != "MODEL_MISSING":
                yield KnownModel(BUNDLED, "", Path(error.place), fault=error.code)
        yield KnownModel(NO_AI, load_cues().digest, None)
        yield from self._added()

    def _added(self) -> Iterator[KnownModel]:
        for digest, name, path, spaced in self._home.db.read(
            "SELECT digest, name, path, spaced FROM models ORDER BY added_at, name"
        ):
            fault = "" if Path(path).is_file() else "MODEL_MISSING"
            yield KnownModel(name, digest, Path(path), spaced=bool(spaced), fault=fault)


def list(*, home: Home | None = None) -> tuple[KnownModel, ...]:
    """The models of a home, as ``Models.list``."""
    return Models(home or open_home()).list()


def add(path: Path, *, name: str = "", spaced: bool = False, home: Home | None = None) -> KnownModel:
    """Remember a model, as ``Models.add``."""
    return Models(home or open_home()).add(path, name=name, spaced=spaced)


def use(model: str, *, home: Home | None = None) -> KnownModel:
    """Compile with a model from now on, as ``Models.use``."""
    return Models(home or open_home()).use(model)


def remove(model: str, *, home: Home | None = None) -> KnownModel:
    """Forget a model, as ``Models.remove``."""
    return Models(home or open_home()).remove(model)


def _usable(name: str) -> str:
    """A name that can be shown, typed and stored. Raises ModelError MODEL_NAME."""
    if name in (BUNDLED, NO_AI):
        raise _name(name, f"{name} is a fixed name")
    if len(name) > _LONGEST_NAME:
        raise _name(name, f"a name has at most {_LONGEST_NAME} characters")
    if not name.isprintable() or name != name.strip() or not name:
        raise _name(ascii(name), "a name is of characters that can be seen")
    return name


def _text_of(path: Path) -> str:
    """A path as text that can be stored. Raises ModelError MODEL_NAME where its name is not UTF-8."""
    text = str(path)
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ModelError(
            "MODEL_NAME",
            "the file's name is not UTF-8",
            place=ascii(text),
            fix="rename the file, or use it this once with --model",
        ) from error
    return text


def _name(name: str, why: str) -> ModelError:
    return ModelError("MODEL_NAME", why, place=name, fix="give another --name")

"""The rooms of the house as a contract of import-linter: who may import whom, and what opposes it still.

`lint-imports` runs it, and prints what is new or is not needed any more.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grimp import ImportGraph
from importlinter import Contract, ContractCheck, output

TABLE = Path(__file__).with_name("rooms.toml")


@dataclass(frozen=True)
class House:
    """The table.

    rooms: of each package, from the top, by the names of their modules. opposing: import lines that go up
    today, as "importer -> imported". most: how many there may be.
    """

    rooms: Mapping[str, Mapping[str, tuple[str, ...]]]
    opposing: frozenset[str]
    most: int

    @classmethod
    def read(cls, place: Path = TABLE) -> House:
        """Read it from its file."""
        said: dict[str, Any] = tomllib.loads(place.read_text())
        opposing, most = frozenset(said.pop("opposing", ())), int(said.pop("most"))
        rooms = {
            package: {room: tuple(f"{package}.{one}" for one in names) for room, names in table.items()}
            for package, table in said.items()
        }
        return cls(rooms, opposing, most)

    def room_of(self, module: str) -> tuple[str, int, str] | None:
        """The package, the number from the top, and the name of a module's room; None of a package itself."""
        package = module.partition(".")[0]
        found = [
            (len(name), (package, number, room))
            for number, (room, names) in enumerate(self.rooms.get(package, {}).items())
            for name in names
            if module == name or module.startswith(f"{name}.")
        ]
        return max(found)[1] if found else None

    def going_up(self, graph: ImportGraph) -> Iterator[str]:
        """The import lines that go from a room to one above it."""
        for module in sorted(graph.modules):
            here = self.room_of(module)
            for other in sorted(graph.find_modules_directly_imported_by(module)) if here else ():
                there = self.room_of(other)
                if here and there and there[0] == here[0] and there[1] < here[1]:
                    yield f"{module} -> {other}"

    def homeless(self, graph: ImportGraph) -> Iterator[str]:
        """Modules that are in no room."""
        for module in sorted(graph.modules):
            if "." in module and module.partition(".")[0] in self.rooms and self.room_of(module) is None:
                yield module


class RoomsContract(Contract):
    """Rooms import those below them; what opposes that today is listed, and the list only becomes shorter."""

    type_name = "rooms"

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        """Compare the imports with the table."""
        house = House.read()
        found = set(house.going_up(graph))
        flaws = [f"goes up: {line}" for line in sorted(found - house.opposing)]
        flaws += [f"is gone, take it off the list: {line}" for line in sorted(house.opposing - found)]
        flaws += [f"is in no room: {module}" for module in house.homeless(graph)]
        if len(house.opposing) != house.most:
            flaws.append(f"`most` is {house.most}, and {len(house.opposing)} are listed")
        return ContractCheck(kept=not flaws, metadata={"flaws": flaws})

    def render_broken_contract(self, check: ContractCheck) -> None:
        """Print a line a flaw."""
        for flaw in check.metadata["flaws"]:
            output.print_error(flaw)

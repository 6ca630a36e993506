"""RFC 6902 patches, applied strictly: whatever is odd about one is refused, and nothing of it is applied."""

from __future__ import annotations

import json
from typing import Any, Final

from ir import DocumentError, canonical_bytes, parse_json

MAX_BYTES: Final = 1 << 20  # of the patches
MAX_OPERATIONS: Final = 256
MAX_DOCUMENT: Final = 1 << 22  # bytes of JSON of what comes out; copies can grow without end
_NESTING: Final = 160  # as deep as a plan, with room for a pair
_MEMBERS: Final = {
    "add": {"op", "path", "value"},
    "replace": {"op", "path", "value"},
    "test": {"op", "path", "value"},
    "remove": {"op", "path"},
    "move": {"op", "path", "from"},
    "copy": {"op", "path", "from"},
}


class PatchFlaw(Exception):  # noqa: N818  # a signal inside this room: it becomes a LifecycleError
    """Why patches are refused. place: the operation, counted from 0, with its path."""

    def __init__(self, message: str, place: str) -> None:
        super().__init__(message)
        self.message, self.place = message, place


def read_patches(patches: bytes) -> list[dict[str, Any]]:
    """The operations of patches (JSON bytes), their form checked. Raises PatchFlaw."""
    if len(patches) > MAX_BYTES:
        raise PatchFlaw(f"more than {MAX_BYTES} bytes", "patches")
    try:
        operations = parse_json(patches, max_nesting=_NESTING)
    except DocumentError as error:
        raise PatchFlaw(f"{error.message} ({error.code})", f"patches {error.place}") from error
    if not isinstance(operations, list):
        raise PatchFlaw("not a list of operations", "patches")
    if len(operations) > MAX_OPERATIONS:
        raise PatchFlaw(f"more than {MAX_OPERATIONS} operations", "patches")
    for number, operation in enumerate(operations):
        _check(operation, f"patches[{number}]")
    return operations


def _check(operation: object, place: str) -> None:
    if not isinstance(operation, dict) or not isinstance(operation.get("op"), str):
        raise PatchFlaw('not an object with an "op"', place)
    members = _MEMBERS.get(operation["op"])
    if members is None:
        raise PatchFlaw(f"{operation['op']!r} is none of {', '.join(_MEMBERS)}", place)
    if operation.keys() != members:
        raise PatchFlaw(f"{operation['op']} has exactly the members {', '.join(sorted(members))}", place)
    for name in members & {"path", "from"}:
        pointer = operation[name]
        if not isinstance(pointer, str) or (pointer and not pointer.startswith("/")):
            raise PatchFlaw(f"{name} is no JSON Pointer", place)


def apply_patches(document: Any, patches: bytes) -> Any:
    """A changed copy of a document (plain JSON values). Raises PatchFlaw, also for a `test` that fails."""
    import jsonpatch  # 10 ms: only where something is corrected
    from jsonpointer import JsonPointer, JsonPointerException

    operations = read_patches(patches)
    document = json.loads(json.dumps(document))
    room = MAX_DOCUMENT - len(json.dumps(document))
    for number, operation in enumerate(operations):
        place = f"patches[{number}] {operation['op']} {operation['path']}"
        try:
            if operation["op"] == "test":
                found = JsonPointer(operation["path"]).resolve(document)
                if canonical_bytes(found) != canonical_bytes(operation["value"]):  # 1 is not true
                    raise PatchFlaw("what is there is something else", place)
                continue
            if operation["op"] == "copy":
                room -= len(json.dumps(JsonPointer(operation["from"]).resolve(document)))
                if room < 0:
                    raise PatchFlaw(f"the document would have more than {MAX_DOCUMENT} bytes", place)
            document = jsonpatch.JsonPatch([operation]).apply(document, in_place=True)
        except (jsonpatch.JsonPatchException, JsonPointerException, TypeError, ValueError, KeyError) as error:
            raise PatchFlaw(f"cannot be applied: {error}", place) from error
        except DocumentError as error:
            raise PatchFlaw(error.message, place) from error
        except RecursionError as error:
            raise PatchFlaw("nested too deep", place) from error
    return document

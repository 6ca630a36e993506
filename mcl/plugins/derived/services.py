"""A web service that describes itself (OpenAPI) as a server whose operations are tools: what is entered,
and the process that goes between."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from executor.core.files import whole_file
from executor.store.home import Home
from mcl.catalog.servers import USUAL, Server, Servers, check_address, check_header, check_server
from mcl.core.errors import InputError
from mcl.plugins.derived import bridge
from mcl.plugins.derived.openapi import OpenApi, read_openapi

_FOLDER: Final = "services"  # in the home


def add_service(
    name: str, path: Path, *, url: str, headers: Sequence[tuple[str, str]], home: Home
) -> tuple[Server, OpenApi]:
    """Enter a service as a server: its operations are tools of it, quarantined until a person approves
    them.

    url: the address that they lie below, in place of the document's own. headers: names with values;
    $env:NAME stands for a variable. What the methods say of themselves is believed: a GET reads, what
    else there is writes or takes away, and a person is asked about each such call.

    Raises InputError OPENAPI_UNREADABLE, OPENAPI_EMPTY, OPENAPI_ADDRESS; McpError as Servers.add.
    """
    check_server(name)
    found = read_openapi(path)
    if not found.operations:
        why = "; ".join(f"{where}: {said}" for where, said in list(found.left.items())[:3])
        message = f"it has no operation that can be called{f' ({why})' if why else ''}"
        raise InputError("OPENAPI_EMPTY", message, place=str(path), fix="name a document with paths")
    base = url or found.base
    if not base:
        message = "it does not say at which address the service is"
        raise InputError(
            "OPENAPI_ADDRESS", message, place=str(path), fix="name it: --url https://api.example.org/v1"
        )
    base = check_address(base, name).rstrip("/")
    for header, value in headers:
        check_header(header, value, name)
    said = {
        "title": found.title or name,
        "base": base,
        "operations": [one.to_json() for one in found.operations],
    }
    data = json.dumps(said, ensure_ascii=False, sort_keys=True).encode()
    digest = hashlib.sha256(data).hexdigest()
    folder = home.path / _FOLDER
    folder.mkdir(mode=0o700, exist_ok=True)
    place = folder / f"{name}-{digest[:16]}.json"
    with whole_file(place) as file:
        file.write(data)
    environment = {one: f"$env:{one}" for one in USUAL}
    environment |= {f"MCL_HEADER_{at}": f"{header}: {value}" for at, (header, value) in enumerate(headers)}
    servers = Servers(home)
    command = [sys.executable, "-I", str(Path(bridge.__file__).absolute()), str(place), digest]
    servers.add(name, command=command, folder=home.path, environment=environment)
    return servers.trust(name), replace(found, base=base)

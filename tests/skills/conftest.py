"""A home whose agent may do everything, and the bundled model in it: both once a file of tests."""

from __future__ import annotations

import pytest

from executor import Home
from executor.gate.grants import Grants
from mcl import open_home
from mcl.model import Model
from mcl.usecases.models import Models


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    home = open_home(tmp_path_factory.mktemp("home"))
    Grants(home).grant(home.keyring.agent.did, ["network", "shell"])
    return home


@pytest.fixture(scope="module")
def bundled(home: Home) -> Model:
    return Models(home).open()

"""The wheel, built once."""

from pathlib import Path

import pytest

from tests.installed.building import build, unpack


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="session")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unpack(wheel, tmp_path_factory.mktemp("site"))

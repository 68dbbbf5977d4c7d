"""A machine on which nothing is installed."""

from pathlib import Path

import pytest

from tests.cluster.programs.machines import refuse
from toolkit import toolchain


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with nothing on it but a shell."""
    for name in ("bin", "assets", "cache"):
        (tmp_path / name).mkdir()
    shell = tmp_path / "shell"
    shell.mkdir()
    for tool in ("sh", "cat", "chmod"):
        (shell / tool).symlink_to(f"/bin/{tool}")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{shell}")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name in ("KUBEBUILDER_ASSETS", "GOPATH", "GOCACHE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(toolchain, "_install", refuse)
    return tmp_path

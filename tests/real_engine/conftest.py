"""The Pulumi CLI and the Kubernetes provider that ``make test-engine`` builds."""

import os
import sys
from pathlib import Path

import pytest

from tests.acceptance.conftest import OWN, ROOT
from tests.real_engine.support import RealStack
from workbench.cluster.cluster import Running
from workbench.engine.programs import built


@pytest.fixture(scope="session")
def engine_programs() -> Path:
    """Folder of the built programs. They are built beforehand: that takes a quarter of an hour."""
    folder = built()
    if folder is None and os.environ.get("INFERENCE_PLATFORM_REQUIRE_ENGINE"):
        pytest.fail("the Pulumi CLI is not built; run make test-engine")
    return folder or pytest.skip("the Pulumi CLI is not built; run make test-engine")


@pytest.fixture
def real_engine(engine_programs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The built programs, and nothing of the user's: neither a CLI on the PATH nor settings of one."""
    for name in OWN:
        monkeypatch.delenv(name, raising=False)
    folders = os.environ["PATH"].split(os.pathsep)
    others = [folder for folder in folders if not (Path(folder) / "pulumi").exists()]
    monkeypatch.setenv("PATH", os.pathsep.join(others))
    monkeypatch.setenv("PULUMI_HOME", str(tmp_path / "pulumi-home"))
    return engine_programs


@pytest.fixture
def real(real_engine: Path, cluster: Running, tmp_path: Path) -> RealStack:
    """A stack on the simulated cluster, deployed by the real engine."""
    return RealStack(tmp_path / "project", cluster.kubeconfig)


@pytest.fixture
def aws(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A provider of AWS that accepts everything."""
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "pulumi-resource-aws"
    program.write_text(f'#!/bin/sh\nPYTHONPATH="{ROOT}" exec "{sys.executable}" -m tests.real_engine.aws_provider\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")

"""The programs and the account of the acceptance test on AWS."""

import json
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.conftest import OWN, ROOT
from tests.clouds.aws.moto.moto_cloud import MotoCloud

REGION = "us-east-1"
PROGRAMS = ("pulumi", "aws", "kubectl")


@pytest.fixture
def account() -> Iterator[MotoCloud]:
    with MotoCloud(REGION) as cloud:
        yield cloud


@dataclass(frozen=True)
class Programs:
    """The stand-ins on the PATH, and what they were called with."""

    log: Path
    set: Callable[..., None]

    @property
    def calls(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.log.read_text().splitlines()] if self.log.exists() else []

    def verbs(self, program: str, known: tuple[str, ...]) -> list[str]:
        """Return which of some words each call of a program has."""
        named = [call["words"] for call in self.calls if (call["words"][0] == program) == (program != "pulumi")]
        return [word for words in named for word in words if word in known]


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Programs:
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in PROGRAMS:
        program = folder / name
        lines = f"import sys\nsys.path.insert(0, {str(ROOT)!r})\nfrom tests.acceptance.aws.programs import {name}\n"
        program.write_text(f"#!{sys.executable}\n{lines}{name}()\n")
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("STAND_IN_LOG", str(tmp_path / "calls"))
    for name in OWN:
        monkeypatch.delenv(name, raising=False)

    def put(**settings: Any) -> None:
        monkeypatch.setenv("PROGRAMS", json.dumps(settings))

    return Programs(tmp_path / "calls", put)

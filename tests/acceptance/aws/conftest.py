"""The programs and the account of the acceptance test on AWS."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.conftest import put_on_path
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
    log = put_on_path({name: f"tests.acceptance.aws.programs:{name}" for name in PROGRAMS}, tmp_path, monkeypatch)

    def put(**settings: Any) -> None:
        monkeypatch.setenv("PROGRAMS", json.dumps(settings))

    return Programs(log, put)

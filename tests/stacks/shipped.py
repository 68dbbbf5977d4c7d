"""The environments that this project ships, run as a program at a fixed moment."""

import datetime
import functools
import json
from pathlib import Path
from typing import Any

import yaml
from pulumi.runtime import mocks

from stacks.environment import deploy
from stacks.settings import read
from tests.recorded import Recorded
from tests.recorded import deploy as record
from tests.resources.aws.aws_mock import Aws

ROOT = Path(__file__).parents[2]
ON_AWS = ("dev", "staging", "prod")
FLEET = "fleet"
"""Logical name of what a stack makes for its models; all below it is named after it."""
MOMENT = datetime.datetime(2026, 11, 21, 12, tzinfo=datetime.UTC)
"""All dates in the settings and the facts are held against this one, so that tests do not age."""
_WAYS_IN = ("publicAccessCidrs", "privateAccessCidrs", "privateAccessSecurityGroups", "bastion", "tunnelPort")
_PREFIX = "inference-platform:"


def settings_of(stack: str) -> dict[str, Any]:
    """The configuration in Pulumi.<stack>.yaml, without the project's prefix."""
    config = yaml.safe_load((ROOT / f"Pulumi.{stack}.yaml").read_text())["config"]
    return {key.removeprefix(_PREFIX): value for key, value in config.items() if key.startswith(_PREFIX)}


def run(stack: str, mock: mocks.Mocks | None = None, *, preview: bool = False, **changes: Any) -> Recorded:
    """Run the project's program with a shipped configuration and changes to it; the folder must be the project's.

    A cluster that is changed keeps the way to its API server, unless it gets another or is told that it has none.
    """
    shipped = settings_of(stack)
    values = {**shipped, **changes}
    if changes.get("cluster") and not {*_WAYS_IN, "existing"} & changes["cluster"].keys():
        ways = {way: shipped["cluster"][way] for way in _WAYS_IN if way in shipped["cluster"]}
        values["cluster"] = {**ways, **changes["cluster"]}
    config = {key: value if isinstance(value, str) else json.dumps(value) for key, value in values.items()}
    return record(lambda: deploy(read()), preview=preview, config=config, mock=mock or Aws())


@functools.cache
def as_shipped(stack: str) -> Recorded:
    """Run the program with a shipped configuration as it is, once for all tests that only read what it registers."""
    return run(stack)


class Clock(datetime.datetime):
    """A clock that stands still."""

    @classmethod
    def now(cls, tz: datetime.tzinfo | None = None) -> "Clock":
        return cls.fromtimestamp(MOMENT.timestamp(), tz)

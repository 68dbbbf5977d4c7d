"""The command that sizes, with the profiles and prices of the vectors of WVA spec 8.10."""

import csv
import io
import json
from typing import Any

from tests.hostile.runs import Printed, run

SAMPLE = ("--output-tokens", "178", "--slo-itl", "24", "--slo-ttft", "500")
PROFILES = (
    *("--profile", "A100=1x20.58/0.41@4", "--price", "A100=40"),
    *("--profile", "MI300X=1x7.77/0.15@4", "--price", "MI300X=65"),
    *("--profile", "G2=1x17.15/0.34@4", "--price", "G2=23"),
)


def size(*arguments: str) -> Printed:
    """Size at the sample's promise, on the accelerators of the sample."""
    return run("size", *SAMPLE, *PROFILES, *arguments)


def rows(*arguments: str, code: int = 0) -> dict[str, dict[str, Any]]:
    """The figures as JSON, by accelerator."""
    done = run("size", "--output", "json", *arguments)
    assert done.code == code, done.stderr
    return {row["accelerator"]: row for row in json.loads(done.stdout)["accelerators"]}


def table(*arguments: str) -> list[dict[str, str]]:
    """The figures as CSV."""
    done = run("size", "--output", "csv", *arguments)
    return list(csv.DictReader(io.StringIO(done.stdout)))

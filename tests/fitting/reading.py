"""Reads files as the command does."""

from pathlib import Path

import pytest

from workbench.errors import WorkbenchError
from workbench.fitting.files import read_benchmarks
from workbench.fitting.measurements import Benchmarks, Latency

DATA = Path(__file__).with_name("data")
"""Small files in the forms that benchmarks write, by hand; in their names is the version that writes so."""


def read(*paths: Path, latency: Latency = Latency.ITL) -> Benchmarks:
    return read_benchmarks(paths, latency)


def refused(*paths: Path, latency: Latency = Latency.ITL) -> str:
    """What is said of files that cannot be used."""
    with pytest.raises(WorkbenchError) as caught:
        read(*paths, latency=latency)
    assert caught.value.exit_code == 1
    return str(caught.value)

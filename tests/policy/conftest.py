"""Fixtures of the policy pack's tests: the pack itself, and what the shipped stacks register."""

import functools
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.policy.server import Pack, running
from workbench.engine.local import LocalEngine, RunOptions
from workbench.engine.program.graph import ResourceGraph
from workbench.engine.project import load_project

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def server() -> Iterator[Pack]:
    with running() as pack:
        yield pack


@pytest.fixture
def pack(server: Pack) -> Pack:
    """The pack with the settings that hold until somebody tells it others."""
    server.configure()
    return server


@functools.cache
def recorded(stack: str) -> ResourceGraph:
    """Return what the program of a shipped stack registers."""
    engine = LocalEngine(load_project(ROOT, stack), Path("/nonexistent"), options=RunOptions(offline=True))
    return engine.record(preview=True)

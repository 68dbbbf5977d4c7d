"""Hostile input through the commands themselves: no traceback, no message without a place, nothing invisible.

``INFERENCE_PLATFORM_EXAMPLES`` makes it try more: it is the number of runs of all commands together.
"""

import functools
import os
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
import yaml
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st

from components.families import kinds
from components.fleet.words import Realization
from tests.hostile import mutations
from tests.hostile.runs import MODELS, Printed, TrespassError, checked, project, write

RUNS = int(os.environ.get("INFERENCE_PLATFORM_EXAMPLES", "300"))
SEEDS = st.integers(0, 2**40)
PREVIEW = ("preview", "--engine", "local", "--offline", "--output", "json")


def runs(share: float) -> settings:
    """Settings of a test that makes a share of all runs; of a seed there is nothing to shrink."""
    return settings(
        max_examples=max(1, int(RUNS * share)),
        deadline=None,
        database=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    made = tmp_path_factory.mktemp("fuzz")
    project(made)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(made)
        yield made


@functools.cache
def names() -> dict[str, list[str]]:
    """Return the names of the samples' resources by kind; every kind that a command reads has some."""
    found: dict[str, list[str]] = {kind.kind: [] for kind in kinds()}
    for documents in mutations.samples():
        for document in documents:
            found[document["kind"]].append(document["metadata"]["name"])
    return found


def every_command() -> list[tuple[str, ...]]:
    """Return every way to run a command on manifests, ``explain`` once for each kind."""
    realizations = [(), *(("--realization", realization) for realization in Realization)]
    return [
        ("validate", MODELS, "--alone"),
        *((command, MODELS, *choice) for command in ("validate", "render") for choice in realizations),
        ("render", MODELS, "--literal"),
        ("render", MODELS, "--expand"),
        ("render", MODELS, "--workload", "lws"),
        ("defaults", MODELS),
        *(("explain", kind, MODELS, *choice) for kind in names() for choice in realizations[::2]),
    ]


def commands(random: Random, lines: int) -> Printed:
    """Run one of the commands that read manifests, in the project's stack or with default settings."""
    command, subject, *options = random.choice(every_command())
    options += random.choice(([], ["--stack", "none"]))
    if command == "explain":
        subject = f"{subject}/{random.choice(names()[subject])}"
    return checked(command, subject, *options, lines=lines)


def test_every_kind_has_samples() -> None:
    explained = {subject for command, subject, *_ in every_command() if command == "explain"}
    assert explained == {kind.kind for kind in kinds()}
    assert all(names().values())


@given(seed=SEEDS)
@runs(0.7)
def test_manifests(seed: int, folder: Path) -> None:
    random = Random(seed)
    commands(random, write(folder / MODELS, mutations.manifests(random)))


@pytest.mark.parametrize("kind", sorted(names()))
@given(seed=SEEDS)
@runs(0.02)
def test_every_kind_is_explained(kind: str, seed: int, folder: Path) -> None:
    """One change at most: explain goes on only where there is no error."""
    random = Random(seed)
    documents = mutations.one_change(random, kind)
    lines = write(folder / MODELS, yaml.safe_dump_all(documents, sort_keys=False))
    for name in {document["metadata"]["name"] for document in documents if document["kind"] == kind}:
        checked("explain", f"{kind}/{name}", MODELS, lines=lines)


@given(seed=SEEDS)
@runs(0.05)
def test_manifests_of_a_stack(seed: int, folder: Path) -> None:
    random = Random(seed)
    project(folder)
    lines = write(folder / MODELS, mutations.manifests(random))
    checked(*PREVIEW, lines=lines)


@given(seed=SEEDS)
@runs(0.08)
def test_settings(seed: int, folder: Path) -> None:
    project(folder, settings=mutations.settings(Random(seed)))
    try:
        checked(*PREVIEW)
    finally:
        project(folder)  # the other tests take its stack


@given(text=st.text(st.characters(codec="utf-8"), max_size=200), seed=SEEDS)
@runs(0.05)
@example(text="\x00", seed=0)
def test_any_text(text: str, seed: int, folder: Path) -> None:
    commands(Random(seed), write(folder / MODELS, text))


def test_what_a_trespass_is(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(folder / MODELS, "a: b\n")
    assert checked("validate", MODELS, lines=2).code == 1
    with pytest.raises(TrespassError, match="line 1 of 0"):
        checked("validate", MODELS, lines=0)
    with pytest.raises(TrespassError, match="no place in"):
        checked("explain", "A/b", "--unknown")
    monkeypatch.setattr("components.contract.problems.printable", str)
    write(folder / MODELS, "kind: 'a\u202eb'\napiVersion: 'a\u202eb'\n")
    with pytest.raises(TrespassError, match="something invisible"):
        checked("validate", MODELS)
    monkeypatch.setattr("components.families.load", lambda *_: 1 / 0)
    with pytest.raises(TrespassError, match="ZeroDivisionError"):
        checked("validate", MODELS)

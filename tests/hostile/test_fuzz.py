"""Hostile input through the commands themselves: no traceback, no message without a place, nothing invisible.

``INFERENCE_PLATFORM_EXAMPLES`` makes it try more: it is the number of runs of all commands together.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st

from tests.hostile import mutations
from tests.hostile.runs import MODELS, Printed, TrespassError, checked, project, write

RUNS = int(os.environ.get("INFERENCE_PLATFORM_EXAMPLES", "600"))
SEEDS = st.integers(0, 2**40)
PREVIEW = ("preview", "--engine", "local", "--offline")


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


def commands(random: Random, lines: int) -> Printed:
    """Run one of the commands that read manifests."""
    kind = random.choice(("OpenModel", "Playground", "Service", "Model", "InferenceService", "BackendRuntime"))
    names = [d["metadata"]["name"] for documents in mutations.samples() for d in documents if d["kind"] == kind]
    command = random.choice(
        (
            ("validate", MODELS),
            ("validate", MODELS, "--alone"),
            ("render", MODELS),
            ("render", MODELS, "--realization", "operator"),
            ("defaults", MODELS),
            ("explain", f"{kind}/{random.choice(names)}", MODELS),
        )
    )
    return checked(*command, lines=lines)


@given(seed=SEEDS)
@runs(0.7)
def test_manifests(seed: int, folder: Path) -> None:
    random = Random(seed)
    commands(random, write(folder / MODELS, mutations.manifests(random)))


@given(seed=SEEDS)
@runs(0.1)
def test_manifests_of_a_stack(seed: int, folder: Path) -> None:
    random = Random(seed)
    project(folder)
    lines = write(folder / MODELS, mutations.manifests(random))
    checked(*PREVIEW, lines=lines)


@given(seed=SEEDS)
@runs(0.15)
def test_settings(seed: int, folder: Path) -> None:
    project(folder, settings=mutations.settings(Random(seed)))
    checked(*PREVIEW)


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
    monkeypatch.setattr("components.api.problems.printable", str)
    write(folder / MODELS, "kind: 'a\u202eb'\napiVersion: 'a\u202eb'\n")
    with pytest.raises(TrespassError, match="something invisible"):
        checked("validate", MODELS)
    monkeypatch.setattr("components.families.load", lambda _: 1 / 0)
    with pytest.raises(TrespassError, match="ZeroDivisionError"):
        checked("validate", MODELS)

"""``plan`` and the graph agree on everything that is created, updated, replaced and deleted."""

import copy
import json
import os
import shutil
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path

import pulumi
import pytest
import yaml
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from components.plan.review.compare import review
from components.plan.review.snapshot import Snapshot
from stacks.environment import deploy
from stacks.settings import read
from tests.plan.review.following.edits import EDITS, Edit, Files
from tests.plan.review.following.engine import Known, World, outcome, words
from tests.recorded import Recorded
from tests.recorded import deploy as record
from tests.stacks.shipped import ROOT, Clock, settings_of
from workbench.planning.recording import NOWHERE
from workbench.planning.snapshot import take

_PREFIX = "inference-platform:"
_LONG = "INFERENCE_PLATFORM_SEQUENCES" in os.environ
"""Whether every edit is tried on every stack, as ``make test-long`` does; each takes 3 to 12 s on the large ones."""
_FEW = (
    "append a zone",
    "types of system nodes",
    "service range",
    "image",
    "reservation",
    "a tag",
    "rename a model",
    "type of a model",
    "expose",
)
_LARGE = EDITS if _LONG else _FEW
_LOCAL = ("rename a model", "add a model", "remove a model", "namespace", "hardening")


@pytest.fixture(scope="module", autouse=True)
def still() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("datetime.datetime", Clock)
        yield


def files_of(stack: str) -> Files:
    models = {
        path.name: list(yaml.safe_load_all(path.read_text())) for path in (ROOT / "stacks/models").glob("*.yaml")
    }
    found: Files = {"settings": copy.deepcopy(settings_of(stack)), "models": models}
    if stack == "local":
        found["settings"] |= {"kubeconfig": str(NOWHERE), "models": ["stacks/models"]}
    return found


class Project:
    """A folder with one revision of a stack."""

    def __init__(self, folder: Path, stack: str, files: Files) -> None:
        self.folder, self.stack, self.settings = folder, stack, files["settings"]
        (folder / "stacks/models").mkdir(parents=True)
        for name, documents in files["models"].items():
            (folder / "stacks/models" / name).write_text(yaml.safe_dump_all(documents, sort_keys=False))
        for name in ("Pulumi.yaml", "__main__.py"):
            shutil.copy(ROOT / name, folder)
        config = {f"{_PREFIX}{key}": value for key, value in self.settings.items()}
        config["pulumi:disable-default-providers"] = ["kubernetes", "aws"]
        (folder / f"Pulumi.{stack}.yaml").write_text(yaml.safe_dump({"config": config}))

    def snapshot(self) -> Snapshot:
        return take(self.folder, self.stack)

    @cached_property
    def first(self) -> Recorded:
        """What it registers where nothing was replaced."""
        return self.run(World())

    def run(self, world: World) -> Recorded:
        config = {key: value if isinstance(value, str) else json.dumps(value) for key, value in self.settings.items()}
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(self.folder)
            return record(lambda: deploy(read()), config=config, mock=Known(world))


class Shipped(dict[str, tuple[Project, Snapshot]]):
    """The shipped stacks, each planned when a test needs it: the first test waits for its own alone."""

    def __init__(self, folder: Callable[[str], Path]) -> None:
        super().__init__()
        self._folder = folder

    def __missing__(self, stack: str) -> tuple[Project, Snapshot]:
        project = Project(self._folder(stack), stack, files_of(stack))
        self[stack] = project, project.snapshot()
        return self[stack]


@pytest.fixture(scope="module")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> Shipped:
    return Shipped(tmp_path_factory.mktemp)


def check(before: tuple[Project, Snapshot], folder: Path, *edits: Edit) -> set[tuple[str, str]] | None:
    """Compare what ``plan`` says of some edits with what the engine does; None where the program refuses them."""
    project, base = before
    files = files_of(project.stack)
    for edit in edits:
        edit(files)
    edited = Project(folder, project.stack, files)
    head = edited.snapshot()
    if head.is_refused:
        with pytest.raises((pulumi.RunError, ValueError)):
            edited.run(World())
        return None
    changes = review(head, base).changes
    planned = {(change.kind.value, _key(change.urn)) for change in changes}
    expected = outcome(project.first, edited.run)
    assert words(planned) == words(expected)
    return expected


def _key(urn: str) -> str:
    qualified, name = urn.split("::", 3)[2:]
    return f"{qualified.rpartition('$')[2]}::{name}"


@pytest.mark.parametrize("name", EDITS)
def test_dev(name: str, shipped: Shipped, tmp_path: Path) -> None:
    check(shipped["dev"], tmp_path / "head", EDITS[name])


@pytest.mark.parametrize("name", _LARGE)
def test_staging(name: str, shipped: Shipped, tmp_path: Path) -> None:
    check(shipped["staging"], tmp_path / "head", EDITS[name])


@pytest.mark.parametrize("name", _LARGE)
def test_prod(name: str, shipped: Shipped, tmp_path: Path) -> None:
    check(shipped["prod"], tmp_path / "head", EDITS[name])


@pytest.mark.parametrize("name", _LOCAL)
def test_local(name: str, shipped: Shipped, tmp_path: Path) -> None:
    check(shipped["local"], tmp_path / "head", EDITS[name])


def test_no_edit_changes_nothing(shipped: Shipped, tmp_path: Path) -> None:
    for stack in ("dev", "staging", "prod", "local"):
        assert check(shipped[stack], tmp_path / stack) == set()


@given(
    names=st.lists(st.sampled_from(sorted(EDITS)), min_size=2, max_size=4, unique=True),
    stack=st.sampled_from(["dev", "staging"]),
)
@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
def test_edits_together(
    shipped: Shipped, tmp_path_factory: pytest.TempPathFactory, names: list[str], stack: str
) -> None:
    try:
        check(shipped[stack], tmp_path_factory.mktemp("head") / "head", *(EDITS[name] for name in names))
    except KeyError:  # an edit of what another one took away
        assume(condition=False)

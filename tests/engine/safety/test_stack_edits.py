"""Random edits of a stack of models: each ends where a fresh `up` ends, and deletes nothing that stays.

The whole program runs; the API server is the stand-in, which keeps every request. One sequence of three edits takes
a few seconds; INFERENCE_PLATFORM_SEQUENCES says how many there are.
"""

import json
import os
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any
from unittest import mock

import yaml
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from stacks.environment import deploy
from stacks.settings import read
from tests.engine.safety.conftest import KUBECONFIG
from tests.engine.safety.edits import deleted_though_held, fixed_of, own
from tests.engine.safety.standin import Key, StandIn
from tests.resources.serving.test_fleet_edits import EDITS, MODELS, Model, edited
from toolkit.kube import Kube
from toolkit.kube.transport import Transport
from workbench.cluster.cluster import Running
from workbench.engine.display import Display
from workbench.engine.local import LocalEngine, Outcome, RunOptions
from workbench.engine.project import load_project
from workbench.engine.state import State, StateRow

ROOT = Path(__file__).parents[3]
EXAMPLES = int(os.environ.get("INFERENCE_PLATFORM_SEQUENCES", "4"))
FILES = st.lists(st.integers(0, 2), min_size=12, max_size=12)
"""By position the file that a model is written in; another list for each edit moves them."""


@dataclass
class Models:
    """A stack of models in a folder, on a cluster."""

    folder: Path
    server: StandIn | None
    """The stand-in; None for the real cluster of the kubeconfig."""

    def up(self, models: list[Model], files: list[int]) -> tuple[Outcome, str]:
        """Write the models into their files and deploy."""
        for number in range(3):
            documents: list[Any] = []
            for model, file in zip(models, files, strict=False):
                documents += model.documents() if file == number else []
            text = yaml.safe_dump_all(documents) or "# no models\n"  # an empty file is an error if it is alone
            (self.folder / f"{number}.yaml").write_text(text)
        screen = StringIO()
        with self._connected():
            return self._engine(screen).up(), screen.getvalue()

    def destroy(self) -> Outcome:
        with self._connected():
            return self._engine(StringIO()).destroy()

    def rows(self) -> dict[str, StateRow]:
        with State(self.folder / "stacks", "local") as state:
            return state.rows()

    def _connected(self) -> AbstractContextManager[Any]:
        return mock.patch("toolkit.kube.client.Transport", self.server) if self.server else nullcontext()

    def _engine(self, screen: StringIO) -> LocalEngine:
        given = {
            "kubeconfig": str(self.folder / "kubeconfig"),
            "models": json.dumps([str(self.folder / f"{number}.yaml") for number in range(3)]),
        }
        project = load_project(ROOT, "local", given)
        options = RunOptions(wait=False, workers=3)
        return LocalEngine(project, self.folder / "stacks", Display(screen), options, lambda: deploy(read()))


def stack_in(folder: Path) -> Models:
    folder.mkdir()
    (folder / "kubeconfig").write_text(KUBECONFIG)
    return Models(folder, StandIn())


def contents(server: StandIn) -> dict[Key, str]:
    """All objects, with what cannot change in place."""
    return dict.fromkeys(own(server), "") | fixed_of(server)


def distinct(models: list[Model]) -> bool:
    return len({model.place for model in models}) == len(models)


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    start=st.lists(MODELS, min_size=1, max_size=4, unique_by=lambda model: model.place),
    edits=st.lists(st.tuples(EDITS, FILES), min_size=2, max_size=4),
)
def test_edits_end_where_a_fresh_up_ends(
    tmp_path_factory: Any, start: list[Model], edits: list[tuple[tuple[str, int, Model], list[int]]]
) -> None:
    folder = tmp_path_factory.mktemp("edits")
    stack, models, files = stack_in(folder / "edited"), start, [0] * 12
    server = stack.server
    assert server
    outcome, screen = stack.up(models, files)
    assert outcome.ok, screen
    for edit, files in edits:
        models = edited(models, edit)
        assume(distinct(models))
        before = contents(server)
        server.deleted.clear()
        outcome, screen = stack.up(models, files)
        assert outcome.ok, screen
        assert deleted_though_held(before, server.deleted, contents(server)) == []
    again, screen = stack.up(models, files[::-1])
    assert again.changed == 0, screen
    fresh = stack_in(folder / "fresh")
    assert fresh.up(models, files)[0].ok
    assert fresh.server
    assert own(server) == own(fresh.server)


def playground(namespace: str, name: str) -> Model:
    return Model(namespace, name, "Playground", 0)


def test_the_same_on_a_real_api_server(cluster: Running, kube: Kube, tmp_path: Path) -> None:
    """A model of the same name in a second namespace, then a move and a rename: what stays is never asked to go."""
    folder = tmp_path / "real"
    real = Models(folder, None)
    folder.mkdir()
    (folder / "kubeconfig").write_bytes(cluster.kubeconfig.read_bytes())
    asked: list[str] = []
    send = Transport.send

    def recorded(self: Transport, method: str, path: str, *rest: Any) -> tuple[int, bytes]:
        if method == "DELETE":
            asked.append(path)
        return send(self, method, path, *rest)

    first = [playground("eng-edits-a", "s")]
    both = [*first, playground("eng-edits-b", "s"), playground("eng-edits-b", "s2")]
    moved = [playground("eng-edits-a", "s"), playground("eng-edits-a", "s3"), playground("eng-edits-b", "s2")]
    with mock.patch("toolkit.kube.transport.Transport.send", recorded):
        for models in (first, both, moved):
            asked.clear()
            outcome, screen = real.up(models, [0] * 12)
            assert outcome.ok, screen
            rows = real.rows()
            there = {kube.path_of(row.inputs) for row in rows.values() if row.inputs and row.cluster}
            assert not there & set(asked)
            for path in there:
                assert "deletionTimestamp" not in kube.request("GET", path)["metadata"]
    fresh = stack_in(tmp_path / "fresh")
    fresh.up(moved, [0] * 12)
    assert real.rows().keys() == fresh.rows().keys()
    assert real.destroy().ok
    assert real.rows() == {}

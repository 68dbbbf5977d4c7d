"""Random edits of a program, with kills in between: the end is that of a fresh ``up``, and nothing goes that stays.

The stand-in for an API server takes a thousandth of the real one's time; ``tests/engine/test_interrupted.py`` kills
real processes on a real one.
"""

import os
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from unittest import mock

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from tests.engine.safety.conftest import KUBECONFIG
from tests.engine.safety.edits import Program, Thing, deleted_though_held, fixed_of, own, program_of
from tests.engine.safety.standin import Key, StandIn
from tests.engine.support import Stack
from workbench.engine.local import RunOptions

EXAMPLES = int(os.environ.get("INFERENCE_PLATFORM_SEQUENCES", "40"))
THINGS = st.builds(
    Thing,
    kind=st.sampled_from(["ConfigMap", "Deployment", "PersistentVolumeClaim"]),
    namespace=st.sampled_from(["team-a", "team-b", "team-c"]),
    name=st.sampled_from(["s", "s2"]),
    fixed=st.sampled_from(["one", "two"]),
    mounts=st.sampled_from(["", "s", "s2"]),
    value=st.sampled_from(["1", "2"]),
)
PROGRAMS = st.dictionaries(st.sampled_from(["a", "b", "c", "d", "e"]), THINGS, max_size=5).map(lambda p: sound(p))


@dataclass(frozen=True)
class Edit:
    """What the program becomes next, and how the run before it ends.

    Attributes:
        spaces: How the resources of the namespaces are called.
        killed_after: Requests until the run is killed; None lets it end.
        seen: Whether the API server still acts on the last request.
    """

    things: Program
    spaces: str
    killed_after: int | None
    seen: bool


EDITS = st.builds(Edit, PROGRAMS, st.sampled_from(["space", "other"]), st.none() | st.integers(0, 25), st.booleans())


def sound(things: Program) -> Program:
    """The same, but nothing mounts a claim that is not there."""
    claims = {(one.namespace, one.name) for one in things.values() if one.kind == "PersistentVolumeClaim"}
    return {
        name: one if (one.namespace, one.mounts) in claims else replace(one, mounts="")
        for name, one in things.items()
    }


class KilledError(BaseException):
    """Ends a run at once, as a kill does."""


class Mortal(StandIn):
    """A stand-in whose client can be killed."""

    left: int | None = None
    seen = False

    def send(self, *request: Any) -> tuple[int, bytes]:
        if self.left is not None:
            self.left -= 1
            if self.left < 0:
                if self.left == -1 and self.seen:
                    super().send(*request)
                raise KilledError
        return super().send(*request)


def stack_on(server: StandIn, folder: Path) -> Stack:
    folder.mkdir(exist_ok=True)
    (folder / "kubeconfig").write_text(KUBECONFIG)
    made = Stack(folder, folder / "kubeconfig")
    made.options = RunOptions(wait=False, workers=3)
    made.config["proj:ignore"] = '{"change-destroys": "programs whose resources change places"}'
    return made


def run(server: Mortal, stack: Stack, edit: Edit, *, last: bool) -> None:
    """One ``up``, killed or not; what it may not do, it has not done."""
    before = fixed_of(server) | dict.fromkeys(own(server).keys() - fixed_of(server).keys(), "")
    wanted = {thing.key: thing for thing in edit.things.values()}
    stays = {key: thing.fixed if key in fixed_of(server) else "" for key, thing in wanted.items()}
    spaces = {Key("namespaces", "", thing.namespace): "" for thing in wanted.values()}
    server.deleted.clear()
    server.left, server.seen = (None if last else edit.killed_after), edit.seen
    try:
        outcome = stack.up(program_of(stack, edit.things, edit.spaces))
        assert outcome.ok, stack.screen
    except KilledError:
        pass
    finally:
        server.left = None
    assert deleted_though_held(before, server.deleted, stays | spaces) == []


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(EDITS, min_size=2, max_size=5))
def test_the_end_is_that_of_a_fresh_up_and_nothing_that_stays_is_deleted(edits: list[Edit]) -> None:
    for edit in edits:
        keys = [thing.key for thing in edit.things.values()]
        assume(len(set(keys)) == len(keys))
    server, fresh = Mortal(), Mortal()
    with tempfile.TemporaryDirectory() as name, mock.patch("workbench.engine.apply.objects.PAUSE", 0.001):
        folder = Path(name)
        with mock.patch("toolkit.kube.client.Transport", server):
            stack = stack_on(server, folder / "edited")
            for edit in edits:
                run(server, stack, edit, last=edit is edits[-1])
            again = stack.up(program_of(stack, edits[-1].things, edits[-1].spaces))
            rows = stack.rows()
        with mock.patch("toolkit.kube.client.Transport", fresh):
            other = stack_on(fresh, folder / "fresh")
            run(fresh, other, replace(edits[-1], killed_after=None), last=True)
            fresh_rows = other.rows()
        assert own(server) == own(fresh)
        assert again.changed == 0, stack.screen
        assert rows.keys() == fresh_rows.keys()
        assert not any(row.intent for row in rows.values())
        with mock.patch("toolkit.kube.client.Transport", server):
            assert stack.destroy().ok
        assert own(server) == {}
        assert stack.rows() == {}

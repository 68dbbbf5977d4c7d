"""Programs of a few resources, run as ``plan`` runs them, and what changes from one to another one."""

from collections.abc import Callable

import pulumi

from components.plan.review.compare import review
from components.plan.review.review import ResourceChange, Review
from components.plan.review.snapshot import Snapshot
from workbench.engine.program.adapter import Monitor, Run, run_program
from workbench.engine.program.graph import ResourceGraph
from workbench.engine.program.stand_ins import StandIns
from workbench.planning.snapshot import _registered

Program = Callable[[], None]
_RUN = Run("proj", "dev", preview=True)


def snapshot_of(program: Program, *, traced: bool = True) -> Snapshot:
    """Return what a program registers, with names for what is unknown.

    Args:
        program: The program.
        traced: Whether it runs with stand-ins too; without, only the resources are known that values come from.
    """
    if not traced:
        return _registered(_graph(program, None), {}, None)
    stand_ins = StandIns()
    with stand_ins.followed():
        again = _graph(program, stand_ins)
    return _registered(_graph(program, None), {}, (again, stand_ins))


def _graph(program: Program, stand_ins: StandIns | None) -> ResourceGraph:
    graph = ResourceGraph("dev", "proj", preview=True)
    graph.exports = run_program(program, Monitor(graph, stand_ins), _RUN)
    return graph


def review_of(before: Program, after: Program, *, traced: bool = True) -> Review:
    return review(snapshot_of(after, traced=traced), snapshot_of(before, traced=traced))


def changes(before: Program, after: Program, *, traced: bool = True) -> list[tuple[str, str]]:
    """Return what becomes of each resource, as ``(kind, name)``, in the order of names."""
    return sorted((change.kind.value, _name(change)) for change in review_of(before, after, traced=traced).changes)


def change_of(name: str, before: Program, after: Program) -> ResourceChange:
    (found,) = (change for change in review_of(before, after).changes if _name(change) == name)
    return found


def _name(change: ResourceChange) -> str:
    return change.urn.rpartition("::")[2]


class Thing(pulumi.CustomResource):
    """A resource of a provider for which there are no types of outputs."""

    def __init__(self, name: str, inputs: dict[str, object], opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("any:index:Thing", name, inputs, opts)

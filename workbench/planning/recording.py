"""Runs the real program without a cluster, a cloud or credentials, and hears what it plans."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..engine.values import has_unknown
from ..errors import WorkbenchError

if TYPE_CHECKING:
    from components.plan.plan import Plan
    from stacks.settings import Settings

    from ..engine.program.graph import ResourceGraph
    from ..engine.program.stand_ins import StandIns
    from ..engine.project import Project

NOWHERE = Path(__file__).with_name("nowhere.yaml")
"""A kubeconfig that leads nowhere, for a program that insists on one when only a plan is made."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """What a program planned and registered, as far as it got.

    Attributes:
        planned: The settings and the plan; None where it stopped before.
        graph: Its resources and exports; None where it failed.
        failed: Why it failed; empty where it did not.
        traced: The same with stand-ins for what is unknown, and the stand-ins; None where nothing is unknown, or the
            program cannot do with them.
    """

    planned: "tuple[Settings, Plan] | None" = None
    graph: "ResourceGraph | None" = None
    failed: str = ""
    traced: "tuple[ResourceGraph, StandIns] | None" = None


def recorded(project: "Project") -> Recorded:
    """Run the program of a project; whatever it says is among the findings of its plan."""
    from stacks.environment import listening

    heard: list[tuple[Settings, Plan]] = []
    graph, failed, traced = None, "", None
    with _quiet(), listening(lambda settings, planned: heard.append((settings, planned))):
        try:
            graph = _record(project)
        except WorkbenchError as error:
            failed = str(error)
        planned = heard[-1] if heard else None
        if graph and any(has_unknown(dict(node.inputs)) for node in graph.nodes.values()):
            traced = _traced(project)
    return Recorded(planned, graph, failed, traced)


def _traced(project: "Project") -> "tuple[ResourceGraph, StandIns] | None":
    from ..engine.program.stand_ins import StandIns

    stand_ins = StandIns()
    try:
        return _record(project, stand_ins), stand_ins
    except WorkbenchError:  # it wants a value as only a deployment has it; resources are known without
        return None


def _record(project: "Project", stand_ins: "StandIns | None" = None) -> "ResourceGraph":
    from ..engine.local import LocalEngine, RunOptions

    key = f"{project.name}:kubeconfig"
    config = {**project.config, key: str(NOWHERE)} if project.kubeconfig else project.config
    engine = LocalEngine(replace(project, config=config), project.folder, options=RunOptions(offline=True))
    return engine.record(preview=True, stand_ins=stand_ins)


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep the program's log back."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(before)

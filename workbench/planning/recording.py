"""Running the Pulumi program without a cluster, cloud account or credentials, and recording its plan."""

import contextlib
import logging
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
"""A kubeconfig without clusters: the program requires one even when it is only planned."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """The plan and the resources of a program, as far as it got.

    Attributes:
        planned: The settings and the plan; None if the program failed before planning.
        graph: Resources and exports; None if the program failed.
        failed: The error of the program; empty if it succeeded.
        traced: A second run with stand-ins for unknown outputs, and the stand-ins; None if there are no unknown
            outputs, or if the program cannot handle stand-ins.
    """

    planned: "tuple[Settings, Plan] | None" = None
    graph: "ResourceGraph | None" = None
    failed: str = ""
    traced: "tuple[ResourceGraph, StandIns] | None" = None


def recorded(project: "Project") -> Recorded:
    """Run the program of a project without its log, whose messages are also findings of the plan."""
    from stacks.environment import listening

    from ..engine.program.stand_ins import StandIns

    plans: list[tuple[Settings, Plan]] = []
    graph, failed, traced = None, "", None
    disabled = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with listening(lambda settings, planned: plans.append((settings, planned))):
            try:
                graph = _record(project)
            except WorkbenchError as error:
                failed = str(error)
            planned = plans[-1] if plans else None  # before the second run, which plans with stand-ins
            if graph and any(has_unknown(dict(node.inputs)) for node in graph.nodes.values()):
                stand_ins = StandIns()
                with contextlib.suppress(WorkbenchError):  # the program depends on the form of a real value
                    traced = _record(project, stand_ins), stand_ins
    finally:
        logging.disable(disabled)
    return Recorded(planned, graph, failed, traced)


def _record(project: "Project", stand_ins: "StandIns | None" = None) -> "ResourceGraph":
    from ..engine.local import LocalEngine, RunOptions

    config = project.config
    if project.kubeconfig:
        config = {**config, project.key("kubeconfig"): str(NOWHERE)}
    engine = LocalEngine(replace(project, config=config), project.folder, options=RunOptions(offline=True))
    return engine.record(preview=True, stand_ins=stand_ins)

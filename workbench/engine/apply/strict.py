"""A strict dry run of what is passed through: nothing but the API server has checked it."""

import http
from collections.abc import Iterable

from ...errors import WorkbenchError
from ...kube import KubeError
from ..plan import Op, Step
from ..program.resources import urn_type
from ..targets import Targets
from ..values import reveal
from .execute import failure_of
from .objects import MANAGER

PASSED_THROUGH = "inference-platform:index:OtherObjects"


def check_passed_through(steps: Iterable[Step], targets: Targets) -> None:
    """Let the API server try the objects that are passed through, before anything is changed.

    What is in a namespace or of a kind that this deployment makes itself cannot be tried before.

    Raises:
        WorkbenchError: it refuses some; says which, and why.
    """
    lines = []
    for step in steps:
        if step.op not in (Op.CREATE, Op.UPDATE) or not step.node or not _passed_through(step):
            continue
        target = targets.reach(step.node.registration.provider)
        try:
            if target:
                target.kube.put(reveal(dict(step.inputs)), manager=MANAGER, dry_run=True)
        except KubeError as error:
            if error.status != http.HTTPStatus.NOT_FOUND:
                failure = failure_of(step, error)
                lines += [f"  {step.urn}", f"      {failure.message}"]
    if lines:
        raise WorkbenchError(
            "\n".join(["the API server refuses objects that are passed through; nothing was changed:", *lines])
        )


def _passed_through(step: Step) -> bool:
    return step.is_object and PASSED_THROUGH in urn_type(step.urn).split("$")

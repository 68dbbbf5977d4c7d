"""A strict dry run of what is passed through: nothing but the API server has checked it."""

import http
from collections.abc import Iterable, Mapping
from typing import Any

from toolkit.kube import KubeError, NoSuchKindError

from ...errors import WorkbenchError
from ..plan import Op, Step
from ..program.resources import urn_type
from ..targets import Targets, identity
from ..values import reveal
from .execute import failure_of
from .objects import CRD, MANAGER

PASSED_THROUGH = "inference-platform:index:OtherObjects"


def check_passed_through(steps: Iterable[Step], targets: Targets) -> None:
    """Let the API server try the objects that are passed through, before anything is changed.

    What is in a namespace or of a kind that this deployment creates itself cannot be tried before.

    Raises:
        WorkbenchError: it refuses some; says which, and why.
    """
    steps = list(steps)
    lines = []
    for step in filter(_passed_through, steps):
        target = targets.reach(step.node.registration.provider) if step.node else None
        try:
            if target:
                target.kube.server_side_apply(reveal(dict(step.inputs)), manager=MANAGER, dry_run=True)
        except KubeError as error:
            if not _comes(step, steps, error):
                lines += [f"  {step.urn}", f"      {failure_of(step, error).message}"]
    if lines:
        raise WorkbenchError(
            "\n".join(["the API server refuses objects that are passed through; nothing was changed:", *lines])
        )


def _passed_through(step: Step) -> bool:
    creates = step.op in (Op.CREATE, Op.UPDATE) and step.is_object
    return creates and PASSED_THROUGH in urn_type(step.urn).split("$")


def _comes(step: Step, steps: Iterable[Step], error: KubeError) -> bool:
    """Tell whether what the API server lacks is created before the object: its kind, or its namespace."""
    if error.status != http.HTTPStatus.NOT_FOUND:
        return False
    api_version, kind, namespace, _ = identity(step.inputs)
    others = [reveal(dict(each.inputs)) for each in steps if each.is_object and each.node]
    if isinstance(error, NoSuchKindError):
        defined = [_defines(body) for body in others if body["kind"] == CRD]
        group = api_version.rpartition("/")[0]
        return (group, kind) in defined
    return any(body["kind"] == "Namespace" and body["metadata"]["name"] == namespace for body in others)


def _defines(definition: Mapping[str, Any]) -> tuple[object, object]:
    """Return the group and kind of a definition, which may be as wrong as anything that is passed through."""
    spec = definition.get("spec")
    names = spec.get("names") if isinstance(spec, dict) else None
    return (spec.get("group"), names.get("kind")) if isinstance(spec, dict) and isinstance(names, dict) else ("", "")

"""A dry run of passed-through objects, which only the API server can validate."""

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
    """Validate passed-through objects with a server-side dry run before anything is changed.

    Objects whose namespace or kind this deployment creates cannot be validated in advance.

    Raises:
        WorkbenchError: the API server rejects objects; the message lists them.
    """
    steps = list(steps)
    lines = []
    for step in steps:
        is_written = step.op in (Op.CREATE, Op.IMPORT, Op.UPDATE) and step.is_object
        if not is_written or PASSED_THROUGH not in urn_type(step.urn).split("$"):
            continue
        target = targets.try_connect(step.node.registration.provider) if step.node else None
        try:
            if target:
                target.kube.server_side_apply(reveal(dict(step.inputs)), manager=MANAGER, dry_run=True)
        except KubeError as error:
            if not _is_created(step, steps, error):
                lines += [f"  {step.urn}", f"      {failure_of(step, error).message}"]
    if lines:
        raise WorkbenchError(
            "\n".join(["the API server rejects passed-through objects; nothing was changed:", *lines])
        )


def _is_created(step: Step, steps: Iterable[Step], error: KubeError) -> bool:
    """Whether this deployment creates the missing kind or namespace of an object."""
    if error.status != http.HTTPStatus.NOT_FOUND:
        return False
    api_version, kind, namespace, _ = identity(step.inputs)
    others = [reveal(dict(other.inputs)) for other in steps if other.is_object and other.node]
    if isinstance(error, NoSuchKindError):
        defined = [_defines(body) for body in others if body["kind"] == CRD]
        group = api_version.rpartition("/")[0]
        return (group, kind) in defined
    return any(body["kind"] == "Namespace" and body["metadata"]["name"] == namespace for body in others)


def _defines(definition: Mapping[str, Any]) -> tuple[object, object]:
    """Return group and kind of a CustomResourceDefinition, which may be malformed."""
    spec = definition.get("spec")
    names = spec.get("names") if isinstance(spec, dict) else None
    return (spec.get("group"), names.get("kind")) if isinstance(spec, dict) and isinstance(names, dict) else ("", "")

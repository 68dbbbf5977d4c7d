"""Imports: objects that exist already, and that the program declares with an import id."""

from collections.abc import Mapping
from typing import Any

from components.contract.texts.secrets import replace_in_object
from toolkit.kube import KubeError

from ...errors import WorkbenchError
from ..apply.conflicts import apply_over
from ..apply.objects import MANAGER, look_up
from ..diff import changes
from ..plan import Op, Step
from ..targets import Target
from ..values import Secret, reveal

_OF_SERVER = ("creationTimestamp", "generation", "managedFields", "resourceVersion", "uid")


def plan_import(step: Step, target: Target | None) -> None:
    """Plan the import of an object, with the fields that it changes in the cluster.

    Raises:
        WorkbenchError: the object does not exist, or the API server rejects the declared one.
    """
    step.op = Op.IMPORT
    if target is None:
        step.note = "not compared with the cluster"
        return
    declared = reveal(dict(step.inputs))
    title = f"{declared['kind']} {step.node.registration.import_id if step.node else ''}"
    try:
        live = look_up(target.kube, declared)
        if live is None:
            raise WorkbenchError(
                f"{title} does not exist, so that it cannot be imported; remove it from the imports "
                "(inference-platform:adopted) to create it"
            )
        applied = apply_over(target.kube, declared, MANAGER, dry_run=True)
    except KubeError as error:
        if error.unreachable:
            raise
        raise WorkbenchError(f"{title} cannot be imported as it is declared: {error.message}") from error
    if declared["kind"] == "Secret":
        return  # never compare or show its content
    step.taken = applied.taken
    step.changes = changes(_comparable(live), _comparable(applied.live))


def _comparable(obj: Mapping[str, Any]) -> dict[str, Any]:
    """Return what people declare of an object, with values that look like secrets marked."""
    metadata = {key: value for key, value in obj["metadata"].items() if key not in _OF_SERVER}
    body = {**{key: value for key, value in obj.items() if key != "status"}, "metadata": metadata}
    return dict(replace_in_object(body, lambda secret, _: Secret(secret)))

"""Flavors that no model claims: nodes for whoever comes."""

from collections.abc import Mapping
from dataclasses import replace

from ...api.base import Json
from ...api.checking import check
from ...api.findings import Findings
from ...api.load import Loaded
from ...api.problems import Problem, field_path
from ...api.quantity import parse_quantity
from ...fleet.demand import NodeField, PodDemand
from ...fleet.origins import Argument
from .flavors import INSTANCE_TYPE, SPREAD, check_choices, node_choices
from .kinds import OPEN_MODEL
from .types import OpenModel

_ABOVE = ("spec", "inferenceConfig", "flavors", 0)


def read_flavor(
    value: Json, at: Argument, alternatives: Mapping[str, tuple[str, ...]]
) -> tuple[PodDemand | None, list[Problem]]:
    """Return what a flavor asks of nodes, for no pods yet, and what is wrong with it.

    Args:
        value: The flavor in wire form.
        at: The argument that holds it.
        alternatives: By instance type, further types that the environment takes instead.
    """
    resource, found = check(_model_with(value), OPEN_MODEL)
    if not isinstance(resource, OpenModel):
        return None, [at.below(field_path(path[len(_ABOVE) :])).problem(reason) for path, reason in found]
    config = resource.spec.inference_config
    (flavor,) = tuple((config.flavors if config else None) or ())
    findings = Findings(Loaded.of(resource, OPEN_MODEL))
    check_choices((flavor,), "", findings)
    (choice,) = node_choices((flavor,), alternatives)
    if choice.instance_type is None:
        reason = f"names no instance type; add {INSTANCE_TYPE}, such as g5.2xlarge"
        return None, [at.below("params").problem(reason)]
    field = NodeField(at, INSTANCE_TYPE, SPREAD)
    requests = {key: parse_quantity(amount) for key, amount in (flavor.limits or {}).items()}
    demand = PodDemand(0, requests, (replace(choice, chosen_by=field),))
    return demand, [at.problem(problem.reason, problem.severity) for problem in findings.problems]


def _model_with(flavor: Json) -> dict[str, Json]:
    """Return a model that has the flavor: the contract's checks are those of a whole object."""
    spec = {"familyName": "any", "source": {"modelHub": {"modelID": "any"}}, "inferenceConfig": {"flavors": [flavor]}}
    metadata = {"name": "any"}
    return {"apiVersion": OPEN_MODEL.api_version, "kind": OPEN_MODEL.kind, "metadata": metadata, "spec": spec}

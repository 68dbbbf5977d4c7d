"""The nodes of flavors, and flavors whose order has no effect (llmaz spec 2.7)."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType

from ...contract.base import Json
from ...contract.checking import check
from ...contract.findings.collector import Findings
from ...contract.findings.ids import RuleId
from ...contract.load import LoadedResource
from ...contract.names import is_label_value, is_qualified_name
from ...contract.problems import field_path, nearest
from ...contract.quantity import parse_quantity
from ...fleet.demand import NodeChoice, NodeField, PodDemand
from ...fleet.extended_resources import fractional_devices
from ...fleet.flavors import Flavor
from ...fleet.origins import Argument, Origin
from ..family import FlavorReading
from .kinds import OPEN_MODEL
from .reading import read_model
from .types import OpenModel

_INSTANCE_TYPE = "INSTANCE-TYPE"
_PARAMS = (_INSTANCE_TYPE, "TP", "PP")
_SIMILAR = 0.75
"""Least similarity of a parameter and a known one that it misspells."""
_ABOVE = ("spec", "inferenceConfig", "flavors", 0)
"""Path of the flavor in the model that wraps it."""
_TYPED = "add params: {{INSTANCE-TYPE: {type}}} to the flavor"
_FLAVORED = "add inferenceConfig.flavors: [{{name: any, params: {{INSTANCE-TYPE: {type}}}}}] to the model"
_SPREAD = "spread each replica over several nodes: limits {key}: {count} with params TP and PP"


def param(flavor: Flavor, key: str) -> str | None:
    """Return a flavor's parameter; the key is accepted in any case (llmaz spec 7.3)."""
    return next((value for name, value in (flavor.params or {}).items() if name.upper() == key), None)


def check_params(flavors: Iterable[Flavor], path: str, findings: Findings) -> None:
    """Warn about parameters that nothing reads, but whose names are nearly those of parameters."""
    for index, flavor in enumerate(flavors):
        for name in flavor.params or {}:
            near = nearest(name.upper(), _PARAMS, _SIMILAR)
            if name.upper() not in _PARAMS and near:
                findings.warn(
                    field_path((*path.split("."), index, "params", name)),
                    f"is read by nothing, found {name!r}; did you mean {near!r}?",
                    RuleId.NAME_MISSPELLED,
                )


def has_pipeline(flavor: Flavor | None) -> bool:
    """Return whether a flavor spreads a replica over several pods by pipeline parallelism."""
    return flavor is not None and bool(param(flavor, "PP"))


def node_choices(
    flavors: Iterable[Flavor],
    alternatives: Mapping[str, tuple[str, ...]] = MappingProxyType({}),
    chosen_by: Origin | None = None,
) -> tuple[NodeChoice, ...]:
    """Return the nodes of flavors in order of preference.

    Args:
        flavors: The flavors of a claim.
        alternatives: Per instance type, the other types that the environment allows instead.
        chosen_by: The field that claims them; its lead names their model.
    """
    choices = []
    for flavor in flavors:
        instance_type = param(flavor, _INSTANCE_TYPE)
        selector = dict(sorted((flavor.node_selector or {}).items()))
        field = None
        if chosen_by:
            origin = replace(chosen_by, lead=f"flavor {flavor.name!r} of {chosen_by.lead}")
            field = NodeField(origin, _INSTANCE_TYPE, _SPREAD, _TYPED)
        others = alternatives.get(instance_type or "", ())
        choices.append(NodeChoice(flavor.name, instance_type, selector, others, field))
    return tuple(choices)


def unflavored(claimed_at: Origin) -> NodeField:
    """Return the field at which to report that a claimed model has no flavor."""
    return NodeField(claimed_at, _INSTANCE_TYPE, _SPREAD, _FLAVORED)


def check_choices(flavors: tuple[Flavor, ...], path: str, findings: Findings) -> None:
    """Check flavors, and warn if their order cannot have the intended effect (llmaz spec 2.7, 6.5)."""
    if not flavors:
        return
    for flavor, choice in zip(flavors, node_choices(flavors), strict=True):
        for key, value in choice.labels.items():
            if not (is_qualified_name(key) and is_label_value(value)):
                findings.error(
                    path,
                    f"flavor {flavor.name!r} selects nodes with the label {key}: {value!r}, which is not a valid "
                    "label; use at most 63 letters, digits, '-', '_' and '.' in keys and values",
                )
    # Accelerators are extended resources, whose names have a domain: nvidia.com/gpu.
    counts = {
        flavor.name: {key: parse_quantity(limit) for key, limit in (flavor.limits or {}).items() if "/" in key}
        for flavor in flavors
    }
    if len({tuple(sorted(count.items())) for count in counts.values()}) > 1:
        findings.warn(
            path,
            f"flavors {', '.join(counts)} request different accelerators, but only the limits of the first, "
            f"{flavors[0].name!r}, are applied; give all of them the same limits",
            RuleId.GPUS_UNEQUAL,
        )
    unnamed = [f.name for f in flavors if counts[f.name] and not param(f, _INSTANCE_TYPE)]
    if unnamed:
        findings.warn(
            path,
            f"flavor {', '.join(unnamed)}: without an instance type there is no node group for it and its price is "
            "unknown; add params: {INSTANCE-TYPE: ...}",
            RuleId.NODES_TYPE_UNNAMED,
        )


def read_flavor(value: Json, at: Argument, alternatives: Mapping[str, tuple[str, ...]]) -> FlavorReading:
    """Return the node demand of a flavor, for no pods yet, and its problems.

    A value without an instance type does not fit, because only that key is specific to llmaz.

    Args:
        value: The flavor in wire form.
        at: The argument that holds it.
        alternatives: Per instance type, the other types that the environment allows instead.
    """
    resource, violations = check(_model_with(value), OPEN_MODEL)
    if not isinstance(resource, OpenModel):
        problems = [at.below(field_path(path[len(_ABOVE) :])).problem(reason) for path, reason in violations]
        return FlavorReading(fits=False, problems=problems)
    config = read_model(resource).spec.inference_config
    (flavor,) = tuple((config.flavors if config else None) or ())
    findings = Findings(LoadedResource.from_program(resource, OPEN_MODEL))
    check_choices((flavor,), "", findings)
    (choice,) = node_choices((flavor,), alternatives)
    if choice.instance_type is None:
        reason = f"has no instance type; add {_INSTANCE_TYPE}, such as g5.2xlarge"
        return FlavorReading(fits=False, problems=(at.below("params").problem(reason, rule=RuleId.SETTINGS),))
    field = NodeField(at, _INSTANCE_TYPE, _SPREAD)
    requests = {key: parse_quantity(amount) for key, amount in (flavor.limits or {}).items()}
    demand = PodDemand(0, requests, (replace(choice, chosen_by=field),))
    fractions = [at.below(path).problem(reason) for path, reason in fractional_devices(value)]
    if fractions:
        return FlavorReading(fits=True, problems=fractions)
    problems = [at.problem(problem.reason, problem.severity, problem.rule) for problem in findings.problems]
    return FlavorReading(fits=True, demand=demand, problems=problems)


def _model_with(flavor: Json) -> dict[str, Json]:
    """Wrap a flavor in a model, because the contract validates whole objects."""
    spec = {"familyName": "any", "source": {"modelHub": {"modelID": "any"}}, "inferenceConfig": {"flavors": [flavor]}}
    metadata = {"name": "any"}
    return {"apiVersion": OPEN_MODEL.api_version, "kind": OPEN_MODEL.kind, "metadata": metadata, "spec": spec}

"""Flavors: what nodes they stand for, and where their order cannot mean what it says (llmaz spec 2.7)."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from decimal import Decimal
from types import MappingProxyType

from ...api.findings import Findings
from ...api.names import is_label_value, is_qualified_name
from ...api.quantity import parse_quantity
from ...fleet.demand import NodeChoice, NodeField
from ...fleet.origins import Origin
from .types import Flavor

INSTANCE_TYPE = "INSTANCE-TYPE"
SPREAD = "spread each replica over several nodes: limits {key}: {count} with params TP and PP"


def param(flavor: Flavor, key: str) -> str | None:
    """Return a flavor's parameter; the key is accepted in any case (llmaz spec 7.3)."""
    return next((value for name, value in (flavor.params or {}).items() if name.upper() == key), None)


def node_choices(
    flavors: Iterable[Flavor],
    alternatives: Mapping[str, tuple[str, ...]] = MappingProxyType({}),
    chosen_by: Origin | None = None,
) -> tuple[NodeChoice, ...]:
    """Return what nodes the flavors stand for, in order of preference.

    Args:
        flavors: The flavors of a claim.
        alternatives: By instance type, further types that the environment takes instead.
        chosen_by: The field that claims them; its lead names their model.
    """
    return tuple(_choice(flavor, alternatives, chosen_by) for flavor in flavors)


def _choice(flavor: Flavor, alternatives: Mapping[str, tuple[str, ...]], chosen_by: Origin | None) -> NodeChoice:
    instance_type = param(flavor, INSTANCE_TYPE)
    selector = dict(sorted((flavor.node_selector or {}).items()))
    field = None
    if chosen_by:
        origin = replace(chosen_by, lead=f"flavor {flavor.name!r} of {chosen_by.lead}")
        field = NodeField(origin, INSTANCE_TYPE, SPREAD)
    return NodeChoice(flavor.name, instance_type, selector, alternatives.get(instance_type or "", ()), field)


def check_choices(flavors: tuple[Flavor, ...], path: str, findings: Findings) -> None:
    """Warn where the order of flavors cannot mean what it says (llmaz spec 2.7, 6.5)."""
    if not flavors:
        return
    _check_labels(flavors, path, findings)
    counts = {flavor.name: _accelerators(flavor) for flavor in flavors}
    if len({tuple(sorted(count.items())) for count in counts.values()}) > 1:
        findings.warn(
            path,
            f"flavors {', '.join(counts)} request different accelerators, but only the limits of the first, "
            f"{flavors[0].name!r}, are applied; give all of them the same limits",
        )
    unnamed = [f.name for f in flavors if counts[f.name] and not param(f, INSTANCE_TYPE)]
    if unnamed:
        findings.warn(
            path,
            f"flavor {', '.join(unnamed)}: without an instance type there is no node group for it and its price is "
            "unknown; add params: {INSTANCE-TYPE: ...}",
        )


def _check_labels(flavors: tuple[Flavor, ...], path: str, findings: Findings) -> None:
    for flavor, choice in zip(flavors, node_choices(flavors), strict=True):
        for key, value in choice.labels.items():
            if not (is_qualified_name(key) and is_label_value(value)):
                findings.error(
                    path,
                    f"flavor {flavor.name!r} selects nodes with the label {key}: {value!r}, which is not a valid "
                    "label; use at most 63 letters, digits, '-', '_' and '.' in keys and values",
                )


def _accelerators(flavor: Flavor) -> dict[str, Decimal]:
    return {k: parse_quantity(v) for k, v in (flavor.limits or {}).items() if "/" in k}

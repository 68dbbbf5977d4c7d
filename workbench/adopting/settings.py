"""The settings of the stack that adopts a cluster."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from components.families import kinds, member_of, objects, releases_of
from components.fleet.objects import Object
from components.fleet.shapes import shape_of
from components.plan.environment import Environment
from components.plan.prerequisites.charts import known

from ..inspecting.environment import releases_in
from ..inspecting.snapshot import ClusterSnapshot
from ..subject import fleet_settings

_GPU = "nvidia.com/gpu"
_NO_RELEASES: Mapping[str, str] = MappingProxyType({})


def environment_of(values: Mapping[str, Any]) -> Environment:
    """Return the environment that settings describe.

    Raises:
        WorkbenchError: a setting is invalid.
    """
    return fleet_settings(values).environment()


def fleet_values(
    resources: Iterable[Object], present: Iterable[str], releases: Mapping[str, str] = _NO_RELEASES
) -> dict[str, Any]:
    """Return the settings under which the objects stay what they are.

    Upstream operators keep on creating the pods of their resources, and nothing is installed.
    """
    known_kinds = kinds()
    families, named = set(), set()
    for body in resources:
        kind = known_kinds.find(body["apiVersion"], body["kind"])
        if kind is None:
            continue
        named.add(kind.releases.family)
        if (family := member_of(kind)[0]).operator:
            families.add(family.name)
    used = {name: releases[name] for name in sorted(releases) if name in named}
    return {
        "otherKinds": "apply",
        **({"realizations": dict.fromkeys(sorted(families), "operator")} if families else {}),
        **({"releases": used} if used else {}),
        "prerequisites": {"install": False, "present": sorted(present)},
    }


def releases_to_set(snapshot: ClusterSnapshot, typed: Iterable[Object]) -> dict[str, str]:
    """Return the setting ``releases``: the newest possible release of each family whose default does not fit.

    Args:
        snapshot: The objects, and the definitions of kinds that the server has.
        typed: The resources of families.
    """
    possible = releases_in(snapshot, objects(typed, "adopted").resources)
    return {family: names[-1] for family, names in possible.items() if releases_of(family).contract not in names}


def present_charts(snapshot: ClusterSnapshot) -> list[str]:
    """Return the charts that the cluster has, as far as its API groups, workloads and nodes tell."""
    charts = {name for name, chart in known().items() if chart.crds and snapshot.api_groups.issuperset(chart.crds)}
    # The charts of an API's controllers have their CRDs; those without CRDs are recognized by what they run.
    names = {
        str(value)
        for body in snapshot.objects
        if shape_of(body)
        for value in (body["metadata"]["name"], (body["metadata"].get("labels") or {}).get("app.kubernetes.io/name"))
        if value
    }
    charts |= {name for name, chart in known().items() if not chart.crds and names & {name, chart.release}}
    if any(_GPU in (node.get("status", {}).get("allocatable") or {}) for node in snapshot.nodes):
        charts = charts if "gpu-operator" in charts else {*charts, "nvidia-device-plugin"}
    return sorted(charts)

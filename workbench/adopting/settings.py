"""The settings of the stack that adopts a cluster."""

from collections.abc import Iterable, Mapping
from typing import Any

from components.families import kinds, member_of
from components.fleet.objects import Object
from components.fleet.shapes import shape_of
from components.plan.environment import Environment
from components.plan.prerequisites.charts import known

from ..inspecting.snapshot import ClusterSnapshot
from ..subject import fleet_settings

_GPU = "nvidia.com/gpu"


def environment_of(values: Mapping[str, Any]) -> Environment:
    """Return the environment that settings describe.

    Raises:
        WorkbenchError: a setting is invalid.
    """
    return fleet_settings(values).environment()


def fleet_values(objects: Iterable[Object], present: Iterable[str]) -> dict[str, Any]:
    """Return the settings under which the objects stay what they are.

    Upstream operators keep on creating the pods of their resources, and nothing is installed.
    """
    known_kinds = kinds()
    families = set()
    for body in objects:
        kind = known_kinds.find(body["apiVersion"], body["kind"])
        if kind and (family := member_of(kind)[0]).operator:
            families.add(family.name)
    return {
        "otherKinds": "apply",
        **({"realizations": dict.fromkeys(sorted(families), "operator")} if families else {}),
        "prerequisites": {"install": False, "present": sorted(present)},
    }


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

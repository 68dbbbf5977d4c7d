"""The settings of the stack that adopts a cluster."""

import re
from collections.abc import Iterable, Iterator, Mapping
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
from .candidates import pod_templates

_GPU = "nvidia.com/gpu"
_VERSION = re.compile(r"-v?[0-9].*$")
_NO_RELEASES: Mapping[str, str] = MappingProxyType({})


def environment_of(values: Mapping[str, Any]) -> Environment:
    """Return the environment that settings describe.

    Raises:
        WorkbenchError: a setting is invalid.
    """
    if "cloud" in values:
        from ..engine.project import new_settings

        return new_settings(values, "adopted").environment()
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


def _names_of(workload: Object) -> Iterator[str]:
    """Yield the names by which a workload may be known: its own, those of its labels, chart and images."""
    labels = workload["metadata"].get("labels") or {}
    yield str(workload["metadata"]["name"])
    yield str(labels.get("app.kubernetes.io/name"))
    # Helm's label is the name of the chart with its version (Helm documentation, "Labels and Annotations").
    yield _VERSION.sub("", str(labels.get("helm.sh/chart")))
    for template in pod_templates(workload):
        for container in (template.get("spec") or {}).get("containers") or ():
            yield str(container.get("image")).partition("@")[0].rpartition("/")[2].partition(":")[0]


def present_charts(snapshot: ClusterSnapshot) -> list[str]:
    """Return the charts that the cluster has, as far as its API groups, workloads and nodes tell."""
    names: set[str] = set()
    for body in snapshot.objects:
        if shape_of(body):
            names.update(_names_of(body))

    # The charts of an API's controllers have their CRDs; those without CRDs are recognized by what they run.
    charts: set[str] = set()
    for name, chart in known().items():
        if snapshot.api_groups.issuperset(chart.crds) if chart.crds else names & {name, chart.release}:
            charts.add(name)

    # Something makes the GPUs known to Kubernetes: the operator, or else the plugin alone.
    has_gpus = any(_GPU in (node.get("status", {}).get("allocatable") or {}) for node in snapshot.nodes)
    if has_gpus and "gpu-operator" not in charts:
        charts.add("nvidia-device-plugin")
    return sorted(charts)

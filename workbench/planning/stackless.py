"""Plans of manifests without a stack, for a cluster with default settings."""

import enum
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from components.plan.review.snapshot import RegisteredResource, Snapshot

if TYPE_CHECKING:
    from components.contract.load import Manifests
    from components.plan.environment import Environment
    from components.plan.plan import Plan


class ClusterKind(enum.StrEnum):
    """The cluster to plan manifests for without a stack."""

    EKS = "eks"
    """A new EKS cluster in two zones, with the prerequisites of the models."""
    SIMULATED = "simulated"
    """The workbench's cluster, which creates nodes as models need them."""
    NONE = "none"
    """An unknown cluster."""


_WHAT = {
    ClusterKind.EKS: "a new EKS cluster in {region} with default settings, where what the models need is installed; "
    "its control plane, its own nodes and its network are not counted",
    ClusterKind.SIMULATED: "the workbench's simulated cluster",
    ClusterKind.NONE: "a cluster of which nothing is known: its nodes and what it provides are not checked",
}
ZONES = "ab"
"""Suffixes of the two zones that a cluster has by default."""


@dataclass(frozen=True, slots=True)
class Alone:
    """How manifests are planned without a stack.

    Attributes:
        paths: Files and folders.
        region: Region of AWS.
        namespace: Namespace of resources that do not set one; empty for the default of the settings.
    """

    paths: tuple[Path, ...]
    cluster: ClusterKind
    region: str
    namespace: str = ""

    def snapshot(self) -> Snapshot:
        """Read the files, relative to the current folder, and plan them.

        Raises:
            WorkbenchError: a setting is wrong.
        """
        from ..subject import read

        manifests = read(self.paths)
        return self._planned(manifests)

    def existing(self) -> "Alone":
        """Return a copy with the paths that exist: another revision may lack some."""
        return replace(self, paths=tuple(path for path in self.paths if path.exists()))

    @property
    def title(self) -> str:
        """Title in place of a stack's name."""
        return f"manifests ({self.cluster})"

    def _planned(self, manifests: "Manifests") -> Snapshot:
        from components.plan.costs.infrastructure import Infrastructure
        from components.plan.plan import plan
        from components.plan.review.planned import snapshot_of
        from components.plan.sections.costs import bill_of

        environment = self._environment()
        planned = plan(manifests, environment)
        zones = len(ZONES) if environment.cloud else 0
        found = snapshot_of(planned, self.title, bill_of(planned, paid=Infrastructure(zones=zones)))
        note = f"planned without a stack, for {_WHAT[self.cluster].format(region=self.region)}"
        if found.is_refused:
            return replace(found, notes=(note,))
        return replace(
            found,
            notes=(note,),
            resources=tuple(sorted(_resources(planned), key=lambda each: each.urn)),
            endpoints=dict(_endpoints(planned)),
        )

    def _environment(self) -> "Environment":
        from components.plan.environment import Environment

        from ..subject import fleet_settings

        known = {"namespace": self.namespace} if self.namespace else {}
        if self.cluster is ClusterKind.SIMULATED:
            return fleet_settings({**known, "simulatedNodes": True, "customResources": True}).environment()
        if self.cluster is ClusterKind.NONE:
            settings = fleet_settings(known)
            return Environment(options=settings.options(), other_kinds=settings.other_kinds)
        return self._on_eks(known)

    def _on_eks(self, known: dict[str, Any]) -> "Environment":
        from components.clouds.aws.environment import AwsEnvironment
        from components.clouds.aws.nodes.launch import SYSTEM_TYPES
        from components.clouds.aws.nodes.settings_location import SettingsLocation
        from components.clouds.aws.subnets import CIDR
        from components.clouds.aws.versions import USUAL_VERSION
        from components.resources.aws.node_settings import NodeSettings

        from ..subject import fleet_settings

        settings = fleet_settings({**known, "prerequisites": {"install": True}})
        zones = [f"{self.region}{suffix}" for suffix in ZONES]
        # The nodes of models are in one zone, as EFA needs it.
        nodes = NodeSettings(zones=zones[:1]).environment(self.region, zones, USUAL_VERSION, {}, SettingsLocation())
        aws = AwsEnvironment(self.region, nodes, cidr=CIDR, system_types=SYSTEM_TYPES)
        environment = settings.environment()
        facts = replace(
            settings.facts(),
            version=USUAL_VERSION,
            node_autoscaler="cluster-autoscaler",
            present=frozenset({"metrics-server"}),
        )
        options = replace(environment.options, tolerates_devices=True, alternatives=aws.alternatives)
        return replace(environment, cloud=aws, cluster=facts, options=options)


def _resources(planned: "Plan") -> Iterator[RegisteredResource]:
    """Yield the objects that are rendered from the manifests."""
    from components.contract.texts.secrets import masked

    for body in (*planned.objects, *planned.others):
        metadata = body["metadata"]
        name = "/".join(filter(None, (metadata.get("namespace"), metadata["name"])))
        kind = f"kubernetes:{body['apiVersion']}:{body['kind']}"
        yield RegisteredResource(f"urn:manifests::{kind}::{name}", kind, f"{body['kind']} {name}", masked(body))


def _endpoints(planned: "Plan") -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the endpoints of models within the cluster, by name."""
    usual = planned.environment.options.namespace
    for _, each in planned.fleet.endpoints:
        name = each.name if each.namespace == usual else f"{each.namespace}/{each.name}"
        yield name, {"url": each.url, "api": each.api, "model": each.model, "port": each.port}


def inside(paths: Sequence[Path], folder: Path) -> tuple[Path, ...] | None:
    """Return paths relative to a folder; None where one is outside."""
    found = []
    for path in paths:
        try:
            found.append((folder / path).resolve().relative_to(folder.resolve()))
        except ValueError:
            return None
    return tuple(found)

"""Plans of some manifests: with the settings of a stack, or for a cluster with default settings."""

import enum
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from components.plan.review.snapshot import RegisteredResource, Snapshot

from ..subject import STDIN

if TYPE_CHECKING:
    from components.plan.costs.bill import Bill
    from components.plan.environment import Environment
    from components.plan.plan import Plan

    from .traffic import VirtualPlan


class ClusterKind(enum.StrEnum):
    """The cluster to plan manifests for without a stack."""

    EKS = "eks"
    """A new EKS cluster in two zones, with the prerequisites of the models."""
    SIMULATED = "simulated"
    """The workbench's cluster, which creates nodes as models need them."""
    NONE = "none"
    """An unknown cluster."""


_DESCRIPTIONS = {
    ClusterKind.EKS: "a new EKS cluster in {region} with default settings and the prerequisites of the models; its "
    "control plane, system nodes and network are not included in costs",
    ClusterKind.SIMULATED: "the workbench's simulated cluster",
    ClusterKind.NONE: "an unknown cluster, whose nodes and prerequisites are not checked",
}
ZONES = "ab"
"""Suffixes of the two default zones of a cluster."""


@dataclass(frozen=True, slots=True)
class StacklessPlan:
    """The options for planning manifests.

    Attributes:
        paths: Files and folders.
        region: AWS region.
        namespace: Namespace of resources that do not set one; empty for the default of the settings.
        releases: Release of an API in which its manifests are read, by family.
        stack: The stack whose settings apply; empty for those of a cluster.
    """

    paths: tuple[Path, ...]
    cluster: ClusterKind
    region: str
    namespace: str = ""
    releases: Mapping[str, str] = field(default_factory=dict)
    stack: str = ""

    def snapshot(self, virtual: "VirtualPlan | None" = None) -> Snapshot:
        """Read the files, relative to the current folder, and plan them.

        Args:
            virtual: Receives the plan, to simulate it; None if it is not simulated.

        Raises:
            WorkbenchError: a setting is invalid.
        """
        from components.plan.costs.infrastructure import Infrastructure
        from components.plan.plan import plan
        from components.plan.review.planned import snapshot_of
        from components.plan.sections.costs import bill_of

        from ..subject import read

        if self.stack:
            planned, bill = self._of_stack()
            note = f"planned with the settings of the stack {self.stack}; the other models of the stack are left out"
        else:
            environment = self._environment()
            manifests = read(self.paths, environment.options.releases)
            planned = plan(manifests, environment)
            zones = len(ZONES) if environment.cloud else 0
            bill = bill_of(planned, paid=Infrastructure(zones=zones))
            note = f"planned without a stack, for {_DESCRIPTIONS[self.cluster].format(region=self.region)}"
        snapshot = snapshot_of(planned, self.title, bill)
        if virtual:
            virtual.take(self.title, planned, bill)
        if snapshot.is_refused:
            return replace(snapshot, notes=(note,))
        return replace(
            snapshot,
            notes=(note,),
            resources=tuple(sorted(_resources(planned), key=lambda resource: resource.urn)),
            endpoints=dict(_endpoints(planned)),
        )

    def existing(self) -> "StacklessPlan":
        """Return a copy with the paths that exist: another revision may lack some."""
        return replace(self, paths=tuple(path for path in self.paths if path.exists()))

    @property
    def title(self) -> str:
        """Title to use instead of a stack's name."""
        return f"manifests ({self.stack or self.cluster})"

    def _of_stack(self) -> "tuple[Plan, Bill]":
        """Return the plan and the costs of the manifests in the stack of the current folder."""
        from stacks.costs import environment_bill
        from stacks.settings import Settings

        from ..subject import Subject, planned

        overrides = {"namespace": self.namespace or None, "releases": dict(self.releases) or None}
        subject = Subject(self.stack, Path(), {key: value for key, value in overrides.items() if value})
        _, plan = planned(subject, self.paths, figures=True)
        settings = subject.settings()
        assert isinstance(settings, Settings)  # noqa: S101  a stack has those of an environment
        return plan, environment_bill(settings, plan)

    def _environment(self) -> "Environment":
        from components.plan.environment import Environment

        from ..subject import fleet_settings

        defaults: dict[str, Any] = {"namespace": self.namespace} if self.namespace else {}
        defaults |= {"releases": self.releases} if self.releases else {}
        if self.cluster is ClusterKind.SIMULATED:
            return fleet_settings({**defaults, "simulatedNodes": True, "customResources": True}).environment()
        if self.cluster is ClusterKind.NONE:
            settings = fleet_settings(defaults)
            return Environment(options=settings.options(), other_kinds=settings.other_kinds)

        from components.clouds.aws.environment import AwsEnvironment
        from components.clouds.aws.nodes.launch import SYSTEM_TYPES
        from components.clouds.aws.nodes.settings_location import SettingsLocation
        from components.clouds.aws.storage.volumes import VOLUME_DRIVER
        from components.clouds.aws.subnets import CIDR
        from components.clouds.aws.versions import USUAL_VERSION
        from components.resources.aws.node_settings import NodeSettings

        settings = fleet_settings({**defaults, "prerequisites": {"install": True}})
        zones = [f"{self.region}{suffix}" for suffix in ZONES]
        # EFA requires all nodes of models to be in one zone.
        nodes = NodeSettings(zones=zones[:1]).environment(self.region, zones, USUAL_VERSION, {}, SettingsLocation())
        addons = frozenset({VOLUME_DRIVER})  # like prerequisites: without a stack, nothing else could add it
        aws = AwsEnvironment(self.region, nodes, addons=addons, cidr=CIDR, system_types=SYSTEM_TYPES)
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
    default_namespace = planned.environment.options.namespace
    for _, endpoint in planned.fleet.endpoints:
        qualified = f"{endpoint.namespace}/{endpoint.name}"
        name = endpoint.name if endpoint.namespace == default_namespace else qualified
        yield name, {"url": endpoint.url, "api": endpoint.api, "model": endpoint.model, "port": endpoint.port}


def seen_from(folder: Path, paths: Sequence[Path]) -> list[Path]:
    """Return paths of the current folder as paths of the project folder, in which messages and links name them."""
    if folder == Path.cwd():
        return list(paths)
    return [
        path if str(path) == STDIN else real.relative_to(folder) if real.is_relative_to(folder) else path.absolute()
        for path, real in ((path, path.resolve()) for path in paths)
    ]


def relative_paths(paths: Sequence[Path], folder: Path) -> tuple[Path, ...] | None:
    """Return paths relative to a folder; None if one is outside of it."""
    relative = []
    for path in paths:
        try:
            relative.append((folder / path).resolve().relative_to(folder.resolve()))
        except ValueError:
            return None
    return tuple(relative)

"""Reads the arguments of a ModelFleet: settings, manifests and cluster."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pulumi
from pydantic import Field, ValidationError, ValidationInfo, field_validator, model_validator
from pydantic.alias_generators import to_camel

from ....contract.base import combined_error
from ....contract.findings.ids import RuleId
from ....contract.load import Manifests
from ....contract.problems import Problem, did_you_mean, field_path, path_parts
from ....families import load, objects
from ....fleet.cloud import Cloud
from ....fleet.cloud_providers import (
    NONE,
    caching,
    caching_cloud,
    default_provider,
    names,
    node_images,
    provider_named,
)
from ....plan.faults import faults
from ....plan.prerequisites.charts import CLUSTER_AUTOSCALER, NODE_AUTOSCALER, providers_of
from ....plan.prerequisites.needed import ClusterFacts
from ....plan.section import KubernetesVersion, Section
from ....plan.settings import FleetSettings
from ..arguments import raise_errors, whole_numbers
from ..output_values import resolve_outputs, unresolved_outputs
from ..site import Site
from ..typed_args import keys_below, known_keys, unknown_keys
from .args import ModelFleetArgs

_SOURCES = ("files", "manifests")
_LEAVES: Mapping[str, tuple[type, str]] = {
    "vpc_id": (str, "a string"),
    "interruption_queue": (str, "a string"),
    "role_arns": (Mapping, "a map"),
    "node_bounds": (list, "a list"),
}
"""Arguments of the cluster that may be outputs, each with its type and the name of that type."""
_CAMEL = re.compile(r"\b[a-z]+(?:[A-Z][a-z]*)+\b")
_KEYS = {to_camel(key): key for key in keys_below(ModelFleetArgs)}


def _one_of(value: str, known: Sequence[str]) -> str:
    if value in known:
        return value
    *first, last = map(repr, known)
    options = f"{', '.join(first)} or {last}" if first else last
    raise ValueError(f"must be {options}, found {value!r}{did_you_mean(value, known)}")


class FleetCluster(Section):
    """Facts about the cluster; checks that require a missing fact are skipped."""

    name: str = ""
    """Name of the cluster, for controllers that require it."""
    version: KubernetesVersion = ""
    """Kubernetes version, such as 1.35."""
    cloud: str = NONE
    """Cloud of the cluster: aws or none. On AWS, load balancers of models are internal."""
    region: str = ""
    """AWS region."""
    cidr: str | None = None
    """CIDR range of the VPC. Load balancers connect to models from it, and unless frontDoor.clientCidrs is set,
    clients in it may connect to the load balancers of models."""
    image: str = next(iter(node_images()))
    """AMI family of the nodes: al2023, or bottlerocket, which includes a device plugin."""
    node_autoscaler: str = ""
    """Node autoscaler to install with the prerequisites: cluster-autoscaler or karpenter. Default: none."""

    @field_validator("cloud")
    @classmethod
    def _known_cloud(cls, value: str) -> str:
        return _one_of(value, names())

    @field_validator("image")
    @classmethod
    def _known_image(cls, value: str) -> str:
        return _one_of(value, tuple(node_images()))

    @field_validator("cidr")
    @classmethod
    def _range(cls, value: str | None, info: ValidationInfo) -> str | None:
        cloud = provider_named(info.data.get("cloud", NONE)) or default_provider()
        problem = cloud.range_problem(value) if value is not None else ""
        if problem:
            raise ValueError(problem)
        return value

    @field_validator("node_autoscaler")
    @classmethod
    def _known(cls, value: str) -> str:
        known = providers_of(NODE_AUTOSCALER)
        if value not in ("", *known):
            raise ValueError(f"must be one of {', '.join(known)}")
        return value


class ProgramSettings(FleetSettings):
    """Arguments of a ModelFleet: manifests as files, as data, or both. All must be plain values, except IDs."""

    files: list[str] = Field(default_factory=list)
    """Manifest files and folders of manifests."""
    manifests: list[Any] = Field(default_factory=list)
    """Manifests in wire form."""
    cluster: FleetCluster = Field(default_factory=FleetCluster)
    """The cluster of the provider in the options."""

    @model_validator(mode="after")
    def _image_cache_on_aws(self) -> "ProgramSettings":
        cache, cluster = self.image_cache, self.cluster
        problem = ""
        if not cache.registries:
            return self
        owner = caching_cloud()
        if cluster.cloud != owner.name or not cluster.region:
            problem = f"requires a cluster on {owner.title}; set cluster.cloud to {owner.name}, and cluster.region"
        elif cache.account is None:
            problem = "requires account; set it to the account of the cache"
        else:
            problem = caching().region_problem(cluster.region)
        if problem:
            raise combined_error([(("image_cache",), problem)])
        return self

    @property
    def cloud_environment(self) -> Cloud | None:
        """Facts about the cloud, in which others create the nodes."""
        cluster, cloud = self.cluster, provider_named(self.cluster.cloud)
        if cloud is None:
            return None
        cache = self.image_cache.cache(cluster.region, self.image_cache.account)
        return cloud.existing(cluster.region, cluster.cidr, cache)

    def facts(self) -> ClusterFacts:
        """Return facts about the cluster for its prerequisites."""
        cluster = self.cluster
        return replace(
            super().facts(),
            version=cluster.version,
            on_nodes=node_images()[cluster.image],
            node_autoscaler=cluster.node_autoscaler,
        )


@dataclass(frozen=True, slots=True)
class Described:
    """Settings, manifests and cluster of a fleet, and problems."""

    settings: FleetSettings
    manifests: Manifests
    site: Site
    problems: tuple[Problem, ...]


def described(name: str, args: ModelFleetArgs) -> Described:
    """Read the arguments of a fleet.

    Raises:
        InvalidArguments: The settings are invalid; lists all problems, including those of manifests.
    """
    args = resolve_outputs(args, ModelFleetArgs)
    unready = list(unresolved_outputs(args, ModelFleetArgs))
    reported = [*unknown_keys(args, ModelFleetArgs), *unready]
    left_out = {path_parts(path)[0] for path, _ in unready}
    known = known_keys(args, ModelFleetArgs)
    values = {key: value for key, value in known.items() if value is not None and key not in left_out}
    leaves = _take_outputs(values)
    for key, value in leaves.items():
        type_, type_name = _LEAVES[key]
        if not isinstance(value, type_ | pulumi.Output):
            reported.append((f"cluster.{key}", f"must be {type_name} or an output, found {value!r}"))
    if not any(key in args for key in _SOURCES):
        reported.append(("manifests", "is required unless files is set; pass manifests as data, or as files"))
    settings = _settings(name, values, reported)
    reported += _unenforced_bounds(leaves, settings) if settings else ()
    problems = tuple(Problem(file=name, path=path, reason=reason, rule=RuleId.SETTINGS) for path, reason in reported)
    sources = settings or _sources_alone(values)
    releases = sources.releases
    data = (objects([value], f"manifests[{position}]", releases) for position, value in enumerate(sources.manifests))
    manifests = Manifests.merged([load(sources.files, releases), *data])
    if settings is None:
        raise_errors([*problems, *manifests.problems])
    site = Site(name=settings.cluster.name, region=settings.cluster.region, **leaves)
    return Described(settings, manifests, site, problems)


def _take_outputs(values: dict[str, Any]) -> dict[str, Any]:
    """Remove and return the arguments of the cluster that may be outputs."""
    cluster = values.get("cluster")
    if not isinstance(cluster, Mapping):
        return {}
    values["cluster"] = {key: value for key, value in cluster.items() if key not in _LEAVES and value is not None}
    return {key: cluster[key] for key in _LEAVES if cluster.get(key) is not None}


def _unenforced_bounds(leaves: Mapping[str, Any], settings: ProgramSettings) -> Iterator[tuple[str, str]]:
    """Report bounds of node groups that no autoscaler enforces."""
    installed = settings.prerequisites.install and CLUSTER_AUTOSCALER not in settings.prerequisites.present
    if "node_bounds" in leaves and not (installed and settings.cluster.node_autoscaler == CLUSTER_AUTOSCALER):
        yield (
            "cluster.node_bounds",
            f"has no effect, because {CLUSTER_AUTOSCALER} is not installed here; set node_autoscaler: "
            f"{CLUSTER_AUTOSCALER} and prerequisites: {{install: true}}, or pass the bounds to your own autoscaler",
        )


def _settings(name: str, values: dict[str, Any], reported: list[tuple[str, str]]) -> ProgramSettings | None:
    """Validate the settings; on failure, add the problems to ``reported`` and return None."""
    try:
        return ProgramSettings.model_validate({**whole_numbers(values), "file": name}, by_name=True, by_alias=False)
    except ValidationError as error:
        wrong = list(faults(error, ProgramSettings, by_name=True))
    reported += [(field_path(fault.path), fault.reason) for fault in wrong]
    return None


def _sources_alone(values: Mapping[str, Any]) -> ProgramSettings:
    """Return settings with only the manifests, so that they are checked in spite of other problems."""
    sources = {
        key: value for key, value in whole_numbers(values).items() if key in _SOURCES and isinstance(value, list)
    }
    sources["files"] = [file for file in sources.get("files", []) if isinstance(file, str)]
    return ProgramSettings.model_validate(sources, by_name=True, by_alias=False)


def in_python(problem: Problem, name: str) -> Problem:
    """Convert keys in a problem of a fleet's settings to snake_case; leave other problems unchanged."""
    if problem.kind or problem.file != name:
        return problem
    return replace(problem, path=_CAMEL.sub(_snake, problem.path), reason=_CAMEL.sub(_snake, problem.reason))


def _snake(match: re.Match[str]) -> str:
    return _KEYS.get(match[0], match[0])

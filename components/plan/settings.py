"""Typed settings of a fleet, read from a stack's file or passed to a component."""

import functools
import re
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, ConfigDict, Field, WithJsonSchema, model_validator

from ..checks.front_door.settings import Door
from ..checks.metrics.chain import MetricSettings
from ..checks.metrics.words import Adapter, Scrape
from ..contract.base import combined_error
from ..contract.findings.ids import FINAL, RuleId
from ..contract.findings.ignoring import why_not_ignorable
from ..contract.problems import Problem, did_you_mean
from ..contract.texts.durations import seconds
from ..families import are_operated, operators, released, releases_of
from ..fleet.autoscalers import TOLERANCE_SINCE
from ..fleet.cloud import Cloud
from ..fleet.instances import Instance, instances_beside
from ..fleet.options import BoundClaim, ModelCache, Options, PodOverrides
from ..fleet.timeouts import Waits
from ..fleet.words import Edition, OtherKinds, Realization, WorkloadChoice
from .costs.prices import OwnPrices
from .environment import Environment
from .prerequisites.needed import ClusterFacts, GpuStack, is_at_least
from .prerequisites.prometheus import PROMETHEUS_PORT, PROMETHEUS_URL
from .section import Flag, Section
from .sections.access import FrontDoorSettings, HardeningSettings
from .sections.images import ImageCacheSettings
from .sections.instance_types import InstanceTypes, described_types
from .sections.levels import LevelSettings
from .sections.pods import Labels, ObjectName, Pods
from .sections.shapes import Read, ShapeSettings, known_shapes
from .sections.timeouts import FleetTimeoutSettings

NAMESPACE = r"^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$"
ADAPTER_CONFIG_MAP = r"^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?/[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?$"
MODEL_ACCOUNT = "model-loader"
"""Default service account of pods that read buckets."""


def _with_operator(family: str) -> str:
    if family not in operators():
        raise ValueError(f"must be a family with an operator: {', '.join(sorted(operators()))}")
    return family


def _known_release(releases: dict[str, str]) -> dict[str, str]:
    problems = list[tuple[tuple[str, ...], str]]()
    for family, release in releases.items():
        if family not in released():
            reason = f"must be a family with several releases: {', '.join(sorted(released()))}"
            problems.append(((family,), reason + did_you_mean(family, released())))
        elif release not in (names := releases_of(family).names):
            reason = f"must be a release of {releases_of(family).project}: {', '.join(names)}, found {release!r}"
            problems.append(((family,), reason + did_you_mean(release, names)))
    if problems:
        raise combined_error(problems)
    return releases


def _release_names(schema: dict[str, Any]) -> None:
    schema.pop("additionalProperties", None)
    families = {family: {"type": "string", "enum": releases_of(family).names} for family in sorted(released())}
    schema.update(properties=families, additionalProperties=False)


def _ignorable(name: str) -> str:
    wrong = why_not_ignorable(name)
    if wrong:
        raise ValueError(wrong)
    return name


_MOST_GIB = 2**20
"""1 PiB, far above what any storage driver provides."""
_PROMETHEUS = r"^https?://([-.a-zA-Z0-9]+|\[[0-9a-fA-F:]+\])$"


def _without_port(value: str) -> str:
    if re.fullmatch(_PROMETHEUS, value, re.ASCII) is None:
        raise ValueError(
            "must be a URL without port and path, such as http://prometheus.monitoring.svc, found "
            f"{value!r}; set the port in prometheusPort"
        )
    return value


_PrometheusUrl = Annotated[
    str, AfterValidator(_without_port), WithJsonSchema({"type": "string", "pattern": _PROMETHEUS})
]
ClaimName = Annotated[str, Field(pattern=r"^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$")]


class Cache(Section):
    """Storage for downloaded weights: a claim or a folder on the node; and claims to read weights from."""

    model_config = ConfigDict(
        json_schema_extra={
            "not": {"required": ["claim", "hostPath"]},
            "if": {"required": ["bound"], "properties": {"bound": {"enum": [True, "true"]}}},
            "then": {"required": ["claim"]},
        }
    )

    claim: ObjectName | None = None
    """Name of a PersistentVolumeClaim in the models' namespace; ReadWriteMany for several nodes."""
    bound: Flag = False
    """Whether to create the claim in every namespace of models, bound to the existing PersistentVolume
    <namespace>.<claim>."""
    host_path: str | None = None
    """Folder on the node."""
    read_only_claims: list[ClaimName] = Field(default_factory=list)
    """Further claims to create and bind the same way, read-only, for models whose source names a claim."""

    @model_validator(mode="after")
    def _one_place(self) -> "Cache":
        if self.claim and self.host_path:
            raise ValueError("must be either a claim or a hostPath; set only one of the two")
        if self.bound and not self.claim:
            raise ValueError("bound requires a claim; set claim too")
        return self

    @property
    def place(self) -> ModelCache | None:
        """Storage for weights; None without a cache."""
        return ModelCache(self.claim, self.host_path) if self.claim or self.host_path else None

    @property
    def claims(self) -> tuple[BoundClaim, ...]:
        """Claims to create with the models, the cache first."""
        cache = (BoundClaim(self.claim),) if self.claim and self.bound else ()
        return (*cache, *(BoundClaim(name, read_only=True) for name in self.read_only_claims))


class Prerequisites(Section):
    """Charts to install in addition to the models."""

    install: Flag = False
    """Whether to install the charts that the models need."""
    present: list[str] = Field(default_factory=list)
    """Names of charts that the cluster already has, installed manually or as an add-on."""
    adapter: Adapter = Adapter.PROMETHEUS_ADAPTER
    """Server of the metrics APIs for autoscalers."""
    gpu_stack: GpuStack = GpuStack.DEVICE_PLUGIN
    """Software that exposes NVIDIA GPUs to pods."""
    monitoring: Flag = False
    """Whether to scrape all models, and create a dashboard and alerts."""
    grafana: Flag = True
    """Whether to install Grafana with Prometheus."""
    prometheus_url: _PrometheusUrl = PROMETHEUS_URL
    """URL of Prometheus, without the port."""
    prometheus_port: int = Field(default=PROMETHEUS_PORT, ge=1, le=65535)
    """Port of Prometheus."""
    prometheus_namespace: str | None = Field(default=None, pattern=NAMESPACE)
    """Namespace of an existing Prometheus that network policies allow to scrape the models. Default: the namespace
    in prometheusUrl."""
    monitor_labels: Labels = Field(default_factory=dict)
    """Labels of PodMonitors and alerts by which an existing Prometheus selects them. kube-prometheus-stack selects by
    release, the name of its Helm release, unless podMonitorSelectorNilUsesHelmValues is false. Default: none."""
    adapter_config_map: str | None = Field(default=None, pattern=ADAPTER_CONFIG_MAP)
    """ConfigMap to create with the rules of the autoscalers' metrics for an existing prometheus-adapter, as
    namespace/name. Its chart reads it as rules.existing. Default: none."""
    retention: str = "10d"
    """Retention of samples in Prometheus, such as 10d."""
    storage_gib: int | None = Field(default=None, ge=1, le=_MOST_GIB)
    """Size of the volume of Prometheus, in GiB. Default: no volume; samples are lost with the pod."""


class FleetSettings(Section):
    """Settings of a fleet: rendering, prerequisites and access."""

    namespace: str = Field(default="models", pattern=NAMESPACE)
    """Namespace of resources that do not set one."""
    realization: Realization = Realization.NATIVE
    """native renders plain Kubernetes objects; operator creates the custom resources."""
    realizations: dict[Annotated[str, AfterValidator(_with_operator)], Realization] = Field(
        default_factory=dict,
        json_schema_extra=lambda schema: schema.update(propertyNames={"enum": list(operators())}),
    )
    """Realization of single families, by name: llmaz, llmkube, kthena, llmd. Default: none."""
    releases: Annotated[dict[str, str], AfterValidator(_known_release)] = Field(
        default_factory=dict, json_schema_extra=_release_names
    )
    """Release of the API in which the manifests of a family are read, and whose operator realization operator
    installs, by family: llmaz, llmkube, kthena, llmd. Default: none; the fields of all releases are accepted, and the
    operator is that of the contract's release."""
    workload: WorkloadChoice = WorkloadChoice.AUTO
    """auto, lws or deployment. auto creates a LeaderWorkerSet only if a replica spans several pods."""
    runtimes: Edition = Edition.UPSTREAM
    """Edition of the shipped runtimes: upstream or current."""
    other_kinds: OtherKinds = OtherKinds.ERROR
    """Handling of objects whose kind belongs to no family: error, apply (unchanged) or skip."""
    ignore: dict[Annotated[str, AfterValidator(_ignorable)], Annotated[str, Field(pattern=r"\S")]] = Field(
        default_factory=dict,
        json_schema_extra={"propertyNames": {"enum": [str(e) for e in RuleId if e not in FINAL]}},
    )
    """Rules to ignore in findings about the arguments, each with the reason. Default: none."""
    simulated_nodes: Flag = False
    """Whether to create the required nodes as Node objects, for a cluster with nodes simulated by kwok."""
    custom_resources: Flag = False
    """Whether to install the CRDs of the kinds in use, except those that charts install."""
    model_cache: Cache = Field(default_factory=Cache.model_construct)
    """Storage for downloaded weights. Default: none; every pod downloads them at startup."""
    image_cache: ImageCacheSettings = Field(default_factory=ImageCacheSettings.model_construct)
    """Pull-through cache for images in ECR, on AWS. Default: none."""
    pods: Pods = Field(default_factory=Pods.model_construct)
    """Settings of every pod."""
    model_buckets: list[str] = Field(default_factory=list)
    """Buckets that pods read weights from. The pods run as the service account model-loader, to which Identities
    grants access."""
    prerequisites: Prerequisites = Field(default_factory=Prerequisites.model_construct)
    """Charts to install in addition to the models. Default: none."""
    front_door: FrontDoorSettings = Field(default_factory=FrontDoorSettings.model_construct)
    """Access for clients outside the cluster. Default: none."""
    hardening: HardeningSettings = Field(default_factory=HardeningSettings.model_construct)
    """Security and availability settings of the pods. Default: none."""
    service_levels: LevelSettings = Field(default_factory=LevelSettings.model_construct)
    """Service levels and load of models, for VariantAutoscalings. Default: none."""
    wait_for_models: Flag = True
    """Whether an update waits until the models are ready, and fails if one is not. With false it ends when their
    objects exist; models that never start are then only seen in the cluster."""
    timeouts: FleetTimeoutSettings = Field(default_factory=FleetTimeoutSettings.model_construct)
    """How long an update waits for single resources before it fails. Default: computed from the cold starts of the
    models."""
    prices: str = ""
    """File with your own prices, in YAML or CSV, which take precedence over the shipped ones: see docs/costs.md.
    Default: none."""
    model_shapes: dict[Annotated[str, Field(min_length=1)], ShapeSettings] = Field(default_factory=dict)
    """Shapes of models that the catalog does not contain, by the name that their server loads: a repository, a folder
    or a file. Default: none; whether such models fit is not checked."""
    instance_types: InstanceTypes = Field(default_factory=dict)
    """Instance types that the tables do not have yet, by name, such as p6e-gb200.36xlarge. Default: none."""
    file: str = Field(default="<program>", exclude=True)
    """File name for messages; not a setting."""

    @property
    def buckets(self) -> list[str]:
        """Buckets with weights, as bucket or bucket/prefix."""
        return self.model_buckets

    @property
    def model_account(self) -> str | None:
        """Service account of the pods; None for the namespace's default."""
        account = MODEL_ACCOUNT if self.buckets else None
        return self.pods.service_account_name or account

    @property
    def cloud_environment(self) -> Cloud | None:
        """The cloud that models run on; None without one."""
        return None

    @functools.cached_property
    def types(self) -> Mapping[str, Instance]:
        """The instance types that these settings describe, by name."""
        return described_types(self.instance_types)

    @property
    def is_operated(self) -> bool:
        """Whether operators create the pods."""
        return are_operated(Options(realization=self.realization, realizations=self.realizations))

    def facts(self) -> ClusterFacts:
        """Return the facts about the cluster that determine its prerequisites."""
        prerequisites = self.prerequisites
        return ClusterFacts(
            adapter=prerequisites.adapter,
            gpu_stack=prerequisites.gpu_stack,
            monitoring=prerequisites.monitoring,
            present=frozenset(prerequisites.present),
            releases={family: releases_of(family).find(release) for family, release in self.releases.items()},
            file=self.file,
        )

    def metrics(self) -> MetricSettings:
        """Return the settings of metrics. Without monitoring, only workloads that autoscalers read are scraped."""
        prerequisites = self.prerequisites
        return MetricSettings(
            adapter=prerequisites.adapter,
            prometheus=f"{prerequisites.prometheus_url}:{prerequisites.prometheus_port}",
            scrape=Scrape.ALL if prerequisites.monitoring else Scrape.USED,
            monitor_labels=prerequisites.monitor_labels,
        )

    def options(self) -> Options:
        pods, cloud = self.pods, self.cloud_environment
        return Options(
            realization=self.realization,
            realizations=self.realizations,
            releases=self.releases,
            levels=self.service_levels.levels(self.file),
            workload=self.workload,
            runtimes=self.runtimes,
            longest_request=self.door().longest_request,
            namespace=self.namespace,
            cache=self.model_cache.place,
            overrides=PodOverrides(
                tolerations=(*pods.tolerations, *(cloud.tolerations if cloud else ())),
                service_account_name=self.model_account,
                creates_account=bool(self.buckets) and not pods.service_account_name,
                image_pull_secrets=tuple(pods.image_pull_secrets),
                priority_class_name=pods.priority_class_name,
                annotations=pods.annotations,
                labels=pods.labels,
                node_selector=pods.node_selector,
            ),
            default_class=self.hardening.hardening().class_name,
            monitoring=self.prerequisites.monitoring,
            alternatives=cloud.alternatives if cloud else {},
            tolerates_devices=cloud is not None and cloud.tolerates_devices,
            tolerates_changes=is_at_least(self.facts().version, TOLERANCE_SINCE),
        )

    def door(self) -> Door:
        return self.front_door.door()

    def waits(self) -> Waits:
        """Return what updates wait for, and for how long."""
        models, charts = self.timeouts.models, self.timeouts.charts
        return Waits(
            for_models=self.wait_for_models,
            models=seconds(models) if models else None,
            charts=seconds(charts) if charts else None,
            controlled=not self.simulated_nodes,
        )

    def environment(self, read: Read | None = None) -> Environment:
        """Return the environment that these settings describe.

        Args:
            read: Reads the files that the settings name; None if they must not be read.
        """
        with instances_beside(self.types):
            return self._environment(read)

    def _environment(self, read: Read | None) -> Environment:
        prices: OwnPrices | None = None
        price_problems: tuple[Problem, ...] = ()
        if self.prices:
            from .costs.price_file import own_prices  # few environments have prices of their own

            prices, price_problems = own_prices(self.prices, self.file, read)
        return Environment(
            options=self.options(),
            metrics=self.metrics(),
            cluster=self.facts(),
            install=self.prerequisites.install,
            storage_gib=self.prerequisites.storage_gib,
            watched=self.prerequisites.monitoring,
            door=self.door(),
            hardening=self.hardening.hardening(),
            network_policies=self.hardening.network_policies,
            scraper=self.prerequisites.prometheus_namespace,
            adapter_config_map=self.prerequisites.adapter_config_map,
            cloud=self.cloud_environment,
            simulated=self.simulated_nodes,
            claims=self.model_cache.claims,
            other_kinds=self.other_kinds,
            ignore=self.ignore,
            shapes=known_shapes(self.model_shapes, self.file, read),
            file=self.file,
            waits=self.waits(),
            prices=prices,
            price_problems=price_problems,
            types=self.types,
        )

"""The settings of a fleet, typed: what a stack reads from its file, and a program hands to a component."""

import re
from typing import Annotated, Any

from pydantic import AfterValidator, ConfigDict, Field, WithJsonSchema, model_validator

from ..checks.front_door.settings import Door
from ..checks.metrics.chain import MetricSettings
from ..checks.metrics.words import Adapter, Scrape
from ..contract.findings.ids import FINAL, RuleId
from ..contract.findings.ignoring import why_not_ignorable
from ..families import are_operated, operators
from ..fleet.autoscalers import TOLERANCE_SINCE
from ..fleet.cloud import Cloud
from ..fleet.options import BoundClaim, ModelCache, Options, PodOverrides
from ..fleet.words import Edition, OtherKinds, Realization, WorkloadChoice
from .environment import Environment
from .prerequisites.needed import ClusterFacts, GpuStack, is_at_least
from .prerequisites.prometheus import PROMETHEUS_PORT, PROMETHEUS_URL
from .section import Flag, Section
from .sections.access import FrontDoorSettings, HardeningSettings
from .sections.images import ImageCacheSettings
from .sections.levels import LevelSettings
from .sections.shapes import Read, ShapeSettings, known_shapes

NAMESPACE = r"^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$"
MODEL_ACCOUNT = "model-loader"
"""Service account of the pods where they may read buckets and none is named."""


def _with_operator(family: str) -> str:
    if family not in operators():
        raise ValueError(f"must be a family with an operator: {', '.join(sorted(operators()))}")
    return family


def _ignorable(name: str) -> str:
    wrong = why_not_ignorable(name)
    if wrong:
        raise ValueError(wrong)
    return name


_MOST_GIB = 2**20
"""A volume of 1 PiB is far above what any driver provides."""
_PROMETHEUS = r"^https?://([-.a-zA-Z0-9]+|\[[0-9a-fA-F:]+\])$"


def _without_port(value: str) -> str:
    if re.fullmatch(_PROMETHEUS, value, re.ASCII) is None:
        raise ValueError(
            "must be a URL without port and path, such as http://prometheus.monitoring.svc, found "
            f"{value!r}; put the port into prometheusPort"
        )
    return value


_PrometheusUrl = Annotated[
    str, AfterValidator(_without_port), WithJsonSchema({"type": "string", "pattern": _PROMETHEUS})
]
ClaimName = Annotated[str, Field(pattern=r"^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$")]


class Cache(Section):
    """Where loaded weights are kept: a claim or a folder on the node; and claims with weights to read."""

    model_config = ConfigDict(
        json_schema_extra={
            "not": {"required": ["claim", "hostPath"]},
            "if": {"required": ["bound"], "properties": {"bound": {"enum": [True, "true"]}}},
            "then": {"required": ["claim"]},
        }
    )

    claim: str | None = None
    """Name of a PersistentVolumeClaim in the models' namespace; ReadWriteMany for several nodes."""
    bound: Flag = False
    """Whether to create that claim in every namespace of models, bound to the PersistentVolume
    <namespace>.<claim>, which must exist."""
    host_path: str | None = None
    """Folder on the node."""
    read_only_claims: list[ClaimName] = Field(default_factory=list)
    """Further claims to create and bind likewise, read-only, for models whose source names a claim."""

    @model_validator(mode="after")
    def _one_place(self) -> "Cache":
        if self.claim and self.host_path:
            raise ValueError("must be either a claim or a hostPath; set only one of the two")
        if self.bound and not self.claim:
            raise ValueError("bound is about a claim; set claim too")
        return self

    @property
    def place(self) -> ModelCache | None:
        """Where weights are kept; None where they are not."""
        return ModelCache(self.claim, self.host_path) if self.claim or self.host_path else None

    @property
    def claims(self) -> tuple[BoundClaim, ...]:
        """Claims that are made with the models, the cache's first."""
        cache = (BoundClaim(self.claim),) if self.claim and self.bound else ()
        return (*cache, *(BoundClaim(name, read_only=True) for name in self.read_only_claims))


class Pods(Section):
    """Settings of every pod in this environment."""

    tolerations: list[dict[str, Any]] = Field(default_factory=list)
    """Tolerations to add."""
    service_account_name: str | None = None
    """Service account. Default: model-loader if pods read buckets, otherwise that of the namespace."""
    image_pull_secrets: list[str] = Field(default_factory=list)
    """Names of Secrets to pull images with."""
    priority_class_name: str | None = None
    """Priority class."""
    annotations: dict[str, str] = Field(default_factory=dict)
    """Annotations to add."""
    labels: dict[str, str] = Field(default_factory=dict)
    """Labels to add."""
    node_selector: dict[str, str] = Field(default_factory=dict)
    """Labels of every node that the models run on."""


class Prerequisites(Section):
    """What to install into the cluster besides the models."""

    install: Flag = False
    """Whether to install what the models need."""
    present: list[str] = Field(default_factory=list)
    """Names of charts that the cluster already has, installed by hand or as an add-on."""
    adapter: Adapter = Adapter.PROMETHEUS_ADAPTER
    """What serves metrics to autoscalers."""
    gpu_stack: GpuStack = GpuStack.DEVICE_PLUGIN
    """What makes NVIDIA GPUs available to pods."""
    monitoring: Flag = False
    """Whether to scrape all models, with dashboard and alerts."""
    grafana: Flag = True
    """Whether to install Grafana with Prometheus."""
    prometheus_url: _PrometheusUrl = PROMETHEUS_URL
    """URL of Prometheus, without port."""
    prometheus_port: int = Field(default=PROMETHEUS_PORT, ge=1, le=65535)
    """Port of Prometheus."""
    prometheus_namespace: str | None = Field(default=None, pattern=NAMESPACE)
    """Namespace of a Prometheus that the cluster already has, which network policies let scrape the models. Default:
    that in prometheusUrl."""
    retention: str = "10d"
    """How long Prometheus keeps samples, such as 10d."""
    storage_gib: int | None = Field(default=None, ge=1, le=_MOST_GIB)
    """Size of the volume of Prometheus. Default: no volume; samples are lost with the pod."""


class FleetSettings(Section):
    """How models are rendered, what is installed for them, and who reaches them."""

    namespace: str = Field(default="models", pattern=NAMESPACE)
    """Namespace of resources that do not set one."""
    realization: Realization = Realization.NATIVE
    """native renders plain Kubernetes objects; operator creates the custom resources."""
    realizations: dict[Annotated[str, AfterValidator(_with_operator)], Realization] = Field(
        default_factory=dict,
        json_schema_extra=lambda schema: schema.update(propertyNames={"enum": list(operators())}),
    )
    """Families with another realization, by name: llmaz, llmkube, kthena, llmd. Default: none."""
    workload: WorkloadChoice = WorkloadChoice.AUTO
    """auto, lws or deployment. auto creates a LeaderWorkerSet only if a replica spans several pods."""
    runtimes: Edition = Edition.UPSTREAM
    """Edition of the shipped runtimes: upstream or current."""
    other_kinds: OtherKinds = OtherKinds.ERROR
    """What becomes of objects whose kinds are of no family: error, apply (as they are) or skip."""
    ignore: dict[Annotated[str, AfterValidator(_ignorable)], Annotated[str, Field(pattern=r"\S")]] = Field(
        default_factory=dict,
        json_schema_extra={"propertyNames": {"enum": [str(e) for e in RuleId if e not in FINAL]}},
    )
    """Rules whose findings of the arguments do not count, each with the reason. Default: none."""
    simulated_nodes: Flag = False
    """Whether to create the required nodes as Node objects, for a cluster in which kwok simulates them."""
    custom_resources: Flag = False
    """Whether to install the CRDs of the kinds in use; charts install their own."""
    model_cache: Cache = Field(default_factory=Cache.model_construct)
    """Where loaded weights are kept. Default: nowhere; every pod loads them at startup."""
    image_cache: ImageCacheSettings = Field(default_factory=ImageCacheSettings.model_construct)
    """A cache of ECR that images are pulled by way of, on AWS. Default: none."""
    pods: Pods = Field(default_factory=Pods.model_construct)
    """Settings of every pod."""
    model_buckets: list[str] = Field(default_factory=list)
    """Buckets that pods read weights from; the pods run as the service account model-loader, which Identities gives
    access."""
    prerequisites: Prerequisites = Field(default_factory=Prerequisites.model_construct)
    """What to install into the cluster besides the models. Default: nothing."""
    front_door: FrontDoorSettings = Field(default_factory=FrontDoorSettings.model_construct)
    """How clients outside the cluster reach the models. Default: not at all."""
    hardening: HardeningSettings = Field(default_factory=HardeningSettings.model_construct)
    """Security and availability settings of the pods. Default: none."""
    service_levels: LevelSettings = Field(default_factory=LevelSettings.model_construct)
    """What models promise and what is asked of them, for VariantAutoscalings. Default: nothing."""
    prices: str = ""
    """File with your own prices, in YAML or CSV, which count more than the shipped ones: see docs/costs.md. Default:
    none."""
    model_shapes: dict[Annotated[str, Field(min_length=1)], ShapeSettings] = Field(default_factory=dict)
    """What is known of models that the catalog does not have, by the name that their server is told: a repository, a
    folder or a file. Default: nothing; whether such models fit is not checked."""
    file: str = Field(default="<program>", exclude=True)
    """What to name in messages; not a key."""

    @property
    def buckets(self) -> list[str]:
        """Where pods read weights in buckets, as bucket or bucket/prefix."""
        return self.model_buckets

    @property
    def model_account(self) -> str | None:
        """Service account of the pods; one is made where they read buckets and none is named."""
        account = MODEL_ACCOUNT if self.buckets else None
        return self.pods.service_account_name or account

    @property
    def cloud_environment(self) -> Cloud | None:
        """What is known of the cloud that models run on; None where they run on none."""
        return None

    @property
    def is_operated(self) -> bool:
        """Whether operators make pods."""
        return are_operated(Options(realization=self.realization, realizations=self.realizations))

    def facts(self) -> ClusterFacts:
        """Return what is known of the cluster, for what must be installed in it."""
        wanted = self.prerequisites
        return ClusterFacts(
            adapter=wanted.adapter,
            gpu_stack=wanted.gpu_stack,
            monitoring=wanted.monitoring,
            present=frozenset(wanted.present),
            file=self.file,
        )

    def metrics(self) -> MetricSettings:
        """Return how metrics are collected: of all models where they are watched, else what autoscalers read."""
        wanted = self.prerequisites
        return MetricSettings(
            adapter=wanted.adapter,
            prometheus=f"{wanted.prometheus_url}:{wanted.prometheus_port}",
            scrape=Scrape.ALL if wanted.monitoring else Scrape.USED,
        )

    def options(self) -> Options:
        """Return how to render."""
        pods, cloud = self.pods, self.cloud_environment
        return Options(
            realization=self.realization,
            realizations=self.realizations,
            levels=self.service_levels.levels(self.file),
            workload=self.workload,
            runtimes=self.runtimes,
            namespace=self.namespace,
            cache=self.model_cache.place,
            overrides=PodOverrides(
                tolerations=(*pods.tolerations, *(cloud.tolerations if cloud else ())),
                service_account_name=self.model_account,
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
        """Return what the front door is."""
        return self.front_door.door()

    def environment(self, read: Read | None = None) -> Environment:
        """Return the environment that these settings describe.

        Args:
            read: Reads the files that they name; without it, what those say is not known.
        """
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
            cloud=self.cloud_environment,
            simulated=self.simulated_nodes,
            claims=self.model_cache.claims,
            other_kinds=self.other_kinds,
            ignore=self.ignore,
            shapes=known_shapes(self.model_shapes, self.file, read),
            file=self.file,
        )

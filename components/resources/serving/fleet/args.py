"""Arguments of a ModelFleet: the sections of a fleet's settings, and the manifests and cluster that they are for."""

from typing import Any, TypedDict

import pulumi

from ..args import ServiceLevelsArgs


class ModelCacheArgs(TypedDict, total=False):
    """Where loaded weights are kept: a claim or a folder on the node; and claims with weights to read."""

    claim: str
    """Name of a PersistentVolumeClaim in the models' namespace; ReadWriteMany for several nodes."""
    bound: bool
    """Whether to create that claim in every namespace of models, bound to the PersistentVolume
    <namespace>.<claim>, which must exist: ModelStorage makes such volumes. Default: false."""
    host_path: str
    """Folder on the node."""
    read_only_claims: list[str]
    """Further claims to create and bind likewise, read-only, for models whose source names a claim."""


class PodsArgs(TypedDict, total=False):
    """Settings of every pod."""

    tolerations: list[dict[str, Any]]
    """Tolerations to add."""
    service_account_name: str
    """Service account."""
    image_pull_secrets: list[str]
    """Names of Secrets to pull images with."""
    priority_class_name: str
    """Priority class."""
    annotations: dict[str, str]
    """Annotations to add."""
    labels: dict[str, str]
    """Labels to add."""
    node_selector: dict[str, str]
    """Labels of every node that the models run on."""


class FleetPrerequisitesArgs(TypedDict, total=False):
    """What to install into the cluster besides the models."""

    install: bool
    """Whether to install what the models need. Default: false."""
    present: list[str]
    """Names of charts that the cluster already has, installed by hand or as an add-on."""
    adapter: str
    """What serves metrics to autoscalers: prometheus-adapter or keda. Default: prometheus-adapter."""
    gpu_stack: str
    """device-plugin or operator. Default: device-plugin."""
    monitoring: bool
    """Whether to scrape all models, with dashboard and alerts. Default: false."""
    grafana: bool
    """Whether to install Grafana with Prometheus. Default: true."""
    prometheus_url: str
    """URL of Prometheus, without port. Default: that of this package's Prometheus."""
    prometheus_port: int
    """Its port. Default: 9090."""
    prometheus_namespace: str
    """Namespace of a Prometheus that the cluster already has, which network policies let scrape the models. Default:
    that in prometheus_url."""
    retention: str
    """How long samples are kept. Default: 10d."""
    storage_gib: int
    """Size of the volume of Prometheus. Default: no volume; samples are lost with the pod."""


class TlsArgs(TypedDict, total=False):
    """Where TLS ends, and with which certificate."""

    kind: str
    """none, cert-manager or acm. Default: none."""
    issuer: str
    """Name of the cert-manager issuer. Use the DNS-01 challenge: port 80 is closed."""
    issuer_kind: str
    """ClusterIssuer or Issuer. Default: ClusterIssuer."""
    certificate_arn: str
    """A certificate of AWS Certificate Manager."""


class AuthArgs(TypedDict, total=False):
    """How clients authenticate."""

    kind: str
    """none, api-key or jwt. Default: none."""
    secrets: list[str]
    """Secrets in the gateway's namespace; each entry is the name and key of one client."""
    issuer: str
    """Issuer of the tokens."""
    jwks_uri: str
    """URL of the issuer's public keys."""
    audiences: list[str]
    """Accepted audiences; a token needs one of them."""
    client_claim: str
    """Claim of a token that names the client, in the log and for limits. Default: sub."""


class RateLimitArgs(TypedDict, total=False):
    """How much each client may ask of the gateway."""

    requests: int
    """Requests of a client per unit. Default: no limit."""
    tokens: int
    """Tokens of a client per unit, of prompts and answers; requires redis. Default: no limit."""
    unit: str
    """second, minute, hour or day. Default: minute."""
    redis: str
    """host:port of a Redis that counts for all proxies and models; rediss://host:port with TLS."""


class RolloutArgs(TypedDict, total=False):
    """How proxies, and pods behind load balancers, are replaced."""

    drain_timeout: str
    """How long a proxy that ends waits for its requests. Default: request_timeout and min_drain_duration together."""
    min_drain_duration: str
    """How long a proxy that ends takes new connections, until load balancers send it no more. Connections of clients
    that idle for so long are closed. Default: 3m."""
    idle_timeout: str
    """How long load balancers keep a connection without data, from 60s to 6000s. That of TLS at the load balancer is
    always 350s. Default: request_timeout and a minute more, but at least 350s."""
    readiness_gates: bool
    """Whether pods behind load balancers on AWS become Ready only when those reach them, after 3 to 5 minutes.
    Default: true."""


class FrontDoorArgs(TypedDict, total=False):
    """How clients outside the cluster reach the models."""

    expose: str
    """none, gateway or load-balancer. Default: none."""
    host: str
    """DNS name of the gateway."""
    tls: TlsArgs
    """TLS of the gateway."""
    auth: AuthArgs
    """How clients authenticate."""
    request_timeout: str
    """Timeout of a whole request. Default: 10m."""
    max_body_size: str
    """Largest request, and largest answer that is not streamed. Default: 50Mi."""
    rate_limit: RateLimitArgs
    """How much each client may ask for."""
    internal: bool
    """Whether the gateway gets a private address. Default: false."""
    access_log: bool
    """Whether to log requests, without prompts and keys. Default: true."""
    allow_anonymous: bool
    """Whether a gateway on the internet may serve clients without authentication. Default: false."""
    replicas: int
    """Proxy replicas of the gateway. Default: 2."""
    client_cidrs: list[str]
    """Address ranges that may connect to load balancers. Default: cluster.cidr for the load balancer of a model,
    everyone who can reach it for a gateway."""
    balancer_cidrs: list[str]
    """With network policies: address ranges from which load balancers connect to models. Default: cluster.cidr on
    AWS, none elsewhere, where connections keep the client's address."""
    rollout: RolloutArgs
    """How proxies, and pods behind load balancers, are replaced without cutting requests off."""


class HardeningArgs(TypedDict, total=False):
    """Security and availability settings of the pods."""

    pod_security: str
    """restricted, baseline or none. Default: none."""
    disruption_budgets: bool
    """Whether a drain may evict only one replica at a time. Default: false."""
    topology_spread: bool
    """Whether replicas are spread over zones if there is room. Default: false."""
    priority: str
    """critical, standard or batch. Default: no class."""
    network_policies: bool
    """Whether only the gateway and the monitoring may reach the models. Default: false."""


class ModelShapeArgs(TypedDict, total=False):
    """A model: its config.json, a known model with the same layers, or numbers; and how large its files are."""

    config: str
    """Path of its config.json."""
    like: str
    """Name of a known model with the same layers, such as the one that it was made from."""
    weights_gib: float
    """Size of the files with its weights, in GiB."""
    parameters: int
    """How many parameters it has."""
    dtype: str
    """What its weights are kept in, such as bfloat16 or fp8."""
    layers: int
    """How many layers it has; all have a key-value cache."""
    kv_heads: int
    """Heads of keys and values of a layer."""
    head_dim: int
    """Numbers of a key, and of a value, of each head."""
    heads: int
    """Attention heads, which tensor parallelism must divide."""
    max_context: int
    """The longest context that it was made for, in tokens."""


class FleetClusterArgs(TypedDict, total=False):
    """What is known of the cluster; what is not known is not checked."""

    name: str
    """Its name, for controllers that need it."""
    version: str
    """Kubernetes version, such as 1.35."""
    cloud: str
    """aws or none. On AWS the load balancers of models are internal. Default: none."""
    region: str
    """AWS region."""
    vpc_id: pulumi.Input[str]
    """VPC of the cluster: Network.vpc_id."""
    cidr: str
    """CIDR range of the VPC: where load balancers connect from, and who may call those of models unless client_cidrs
    is set."""
    image: str
    """Image of the nodes: al2023, or bottlerocket, which includes a device plugin. Default: al2023."""
    node_autoscaler: str
    """Node autoscaler to install with the prerequisites: cluster-autoscaler or karpenter. Default: none."""
    interruption_queue: pulumi.Input[str]
    """Queue of interruption notices for Karpenter: KarpenterAccess.queue_name."""
    role_arns: pulumi.Input[dict[str, str]]
    """Roles that service accounts name themselves in a cluster without Pod Identity: Identities.role_arns."""
    node_bounds: pulumi.Input[list[Any]]
    """Fewest and most nodes of node groups and their order, for the Cluster Autoscaler: GpuNodeGroups.bounds."""


class FleetImageCacheArgs(TypedDict, total=False):
    """Images by way of the private registry (ECR) of an AWS account: see ImageCache, which makes its rules."""

    account: str
    """ID of the account whose registry caches images."""
    registries: list[str]
    """Registries that images are pulled from by way of the cache: docker.io, ghcr.io, quay.io, registry.k8s.io,
    public.ecr.aws, registry.gitlab.com, cgr.dev or <name>.azurecr.io. Default: none."""
    prefix: str
    """What the names of all cached repositories begin with. Default: nothing."""


class ModelFleetArgs(TypedDict, total=False):
    """Arguments of a ModelFleet: manifests as files, as data, or both. All but IDs are plain."""

    files: list[str]
    """Manifest files, and folders of manifests."""
    manifests: pulumi.Input[list[dict[str, Any]]]
    """Manifests as data, each an object in wire form."""
    cluster: FleetClusterArgs
    """The cluster of the provider in the options."""
    namespace: str
    """Namespace of resources that do not set one. Default: models."""
    realization: str
    """native renders plain Kubernetes objects; operator creates the custom resources. Default: native."""
    realizations: dict[str, str]
    """Families with another realization, by name: llmaz, llmkube, kthena, llmd. Default: none."""
    workload: str
    """auto, lws or deployment. auto creates a LeaderWorkerSet only if a replica spans several pods. Default: auto."""
    runtimes: str
    """Edition of the shipped runtimes: upstream or current. Default: upstream."""
    other_kinds: str
    """What becomes of objects whose kinds are of no family: error, apply (as they are) or skip. Default: error."""
    ignore: dict[str, str]
    """Rules whose findings of the arguments do not count, each with the reason. Default: none."""
    simulated_nodes: bool
    """Whether to create the required nodes as Node objects, for a cluster in which kwok simulates them. Default:
    false."""
    custom_resources: bool
    """Whether to install the CRDs of the kinds in use; charts install their own. Default: false."""
    model_cache: ModelCacheArgs
    """Where loaded weights are kept. Default: nowhere; every pod loads them at startup."""
    image_cache: FleetImageCacheArgs
    """A cache of ECR that images are pulled by way of, on AWS. Default: none."""
    pods: PodsArgs
    """Settings of every pod."""
    model_buckets: list[str]
    """Buckets that pods read weights from; the pods run as the service account model-loader, which Identities
    gives access."""
    prerequisites: FleetPrerequisitesArgs
    """What to install into the cluster besides the models. Default: nothing."""
    front_door: FrontDoorArgs
    """How clients outside the cluster reach the models. Default: not at all."""
    hardening: HardeningArgs
    """Security and availability settings of the pods. Default: none."""
    model_shapes: dict[str, ModelShapeArgs]
    """What is known of models that the catalog does not have, by the name that their server is told: a repository, a
    folder or a file. Default: nothing; whether such models fit is not checked."""
    service_levels: ServiceLevelsArgs
    """What models promise and what is asked of them, for VariantAutoscalings. Default: nothing."""
    prices: str
    """File with your own prices, in YAML or CSV, which count more than the shipped ones: see docs/costs.md. Default:
    none."""

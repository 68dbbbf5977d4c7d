"""Arguments of a ModelFleet: the sections of a fleet's settings, and the manifests and cluster that they are for."""

from typing import Any, TypedDict

import pulumi


class ModelCacheArgs(TypedDict, total=False):
    """Where loaded weights are kept: exactly one of the two."""

    claim: str
    """Name of a PersistentVolumeClaim in the models' namespace; ReadWriteMany for several nodes."""
    host_path: str
    """Folder of the node."""


class PodsArgs(TypedDict, total=False):
    """What every pod gets."""

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
    """Labels that every node of the models carries."""


class FleetPrerequisitesArgs(TypedDict, total=False):
    """What is installed into the cluster besides the models."""

    install: bool
    """Whether what the models need is installed. Default: false."""
    present: list[str]
    """Names of charts whose work is done already, by hand or as an add-on."""
    adapter: str
    """Who serves metrics to autoscalers: prometheus-adapter or keda. Default: prometheus-adapter."""
    gpu_stack: str
    """device-plugin or operator. Default: device-plugin."""
    monitoring: bool
    """Whether models are watched even where no autoscaler needs it: dashboard and alerts. Default: false."""
    grafana: bool
    """Whether Grafana comes with Prometheus. Default: true."""
    prometheus_url: str
    """Prometheus, without port. Default: that of this package."""
    prometheus_port: int
    """Its port. Default: 9090."""
    retention: str
    """How long samples are kept. Default: 10d."""
    storage_gib: int
    """Size of the volume of Prometheus. Default: none; samples go with the pod."""


class TlsArgs(TypedDict, total=False):
    """Who encrypts, and with which certificate."""

    kind: str
    """none, cert-manager or acm. Default: none."""
    issuer: str
    """Issuer of cert-manager. It must not need port 80, which is closed."""
    issuer_kind: str
    """ClusterIssuer or Issuer. Default: ClusterIssuer."""
    certificate_arn: str
    """A certificate of AWS Certificate Manager."""


class AuthArgs(TypedDict, total=False):
    """Who may call."""

    kind: str
    """none, api-key or jwt. Default: none."""
    secrets: list[str]
    """Secrets in the gateway's namespace, each entry a client's name and key."""
    issuer: str
    """Who signs tokens."""
    jwks_uri: str
    """Where the issuer publishes its keys."""
    audiences: list[str]
    """For whom tokens must be made out; one of them is enough."""


class FrontDoorArgs(TypedDict, total=False):
    """How clients outside the cluster reach the models."""

    expose: str
    """none, gateway or load-balancer. Default: none."""
    host: str
    """DNS name of the gateway."""
    tls: TlsArgs
    """Who encrypts."""
    auth: AuthArgs
    """Who may call."""
    request_timeout: str
    """Time for a whole answer. Default: 10m."""
    internal: bool
    """Whether the address is one of the private network. Default: false."""
    access_log: bool
    """Whether each request is logged, without prompts and keys. Default: true."""
    allow_anonymous: bool
    """Whether a gateway on the internet may serve everybody. Default: false."""
    replicas: int
    """Proxies of the gateway. Default: 2."""
    client_cidrs: list[str]
    """Who may call a load balancer."""


class HardeningArgs(TypedDict, total=False):
    """What pods and their workloads are held to."""

    pod_security: str
    """restricted, baseline or none. Default: none."""
    disruption_budgets: bool
    """Whether a drain may take only one replica at a time. Default: false."""
    topology_spread: bool
    """Whether replicas are spread over zones, where there is room. Default: false."""
    priority: str
    """critical, standard or batch. Default: no class."""
    network_policies: bool
    """Whether only gateway and monitoring reach the models. Default: false."""


class FleetClusterArgs(TypedDict, total=False):
    """What is known of the cluster; what is not known is not checked."""

    name: str
    """Its name, for controllers that have to know it."""
    version: str
    """Kubernetes version, such as 1.35."""
    cloud: str
    """aws or none. On AWS load balancers of models stay in the private network. Default: none."""
    region: str
    """AWS region."""
    vpc_id: pulumi.Input[str]
    """VPC of the cluster: Network.vpc_id."""
    cidr: str
    """Range of the VPC, which may call load balancers unless client_cidrs says otherwise."""
    image: str
    """Image of the nodes: al2023, or bottlerocket, which brings a device plugin of its own. Default: al2023."""
    node_autoscaler: str
    """Who makes nodes, and is installed with the prerequisites: cluster-autoscaler or karpenter. Default: others."""
    interruption_queue: pulumi.Input[str]
    """Queue of the notices for Karpenter: KarpenterAccess.queue_name."""


class ModelFleetArgs(TypedDict, total=False):
    """Arguments of a ModelFleet: manifests as files, as data, or both. All but IDs are plain."""

    files: list[str]
    """Manifests, and folders of manifests."""
    manifests: list[dict[str, Any]]
    """Manifests as data, each an object in wire form."""
    cluster: FleetClusterArgs
    """The cluster that the provider in the options leads to."""
    namespace: str
    """Namespace of resources that name none. Default: models."""
    realization: str
    """native renders plain Kubernetes objects; operator creates the typed resources. Default: native."""
    workload: str
    """auto, lws or deployment. auto makes a LeaderWorkerSet only where a replica spans pods. Default: auto."""
    runtimes: str
    """Edition of the shipped runtimes: upstream or current. Default: upstream."""
    simulated_nodes: bool
    """Whether to create the demanded nodes as objects, for a cluster in which kwok plays them. Default: false."""
    custom_resources: bool
    """Whether to install the definitions of the kinds in use; charts bring their own. Default: false."""
    model_cache: ModelCacheArgs
    """Where loaded weights are kept. Default: they are loaded at every pod start."""
    pods: PodsArgs
    """What every pod gets."""
    model_buckets: list[str]
    """Buckets that pods read weights from: they run as the service account model-loader, known to Identities."""
    prerequisites: FleetPrerequisitesArgs
    """What is installed into the cluster besides the models. Default: nothing."""
    front_door: FrontDoorArgs
    """How clients outside the cluster reach the models. Default: not at all."""
    hardening: HardeningArgs
    """What pods and their workloads are held to. Default: nothing."""

"""The workload of a Playground or Service, its Service and its autoscaler (llmaz spec 2.6 to 2.8)."""

from dataclasses import dataclass, field, replace
from typing import NamedTuple

from ...contract.findings.collector import Findings
from ...contract.findings.ids import RuleId
from ...contract.load import LoadedResource
from ...engines.command_line import CommandLine
from ...engines.paths import path_prefix
from ...engines.settings import Setting
from ...fleet.autoscalers import Autoscaler
from ...fleet.demand import UNLIMITED, PodDemand
from ...fleet.endpoints import Backend, Endpoint, WeightsOwner
from ...fleet.objects import HPA, LWS_LABEL, Object, new_object
from ...fleet.options import Options
from ...fleet.origins import Origin
from ...fleet.placement import assign_nodes, requests_of
from ...fleet.serving import declared_port, disable_token_mount, override_pod, server_of
from ...fleet.shapes import DEPLOYMENT, LEADER_WORKER_SET, WorkloadShape, group_update
from ...fleet.words import WorkloadChoice
from ...fleet.workloads import ImageField, Server, SpreadField, Workload
from .backend import PORT
from .flavors import node_choices, unflavored
from .loaders import RUNNER, mount_models
from .metric_flags import turn_on_metrics
from .models import Claim, named_weights, served_name
from .parallel import Parallelism, limits_of
from .types import HPATrigger

_LOADING_SECONDS = 3600
"""Loading a large model takes longer than ten minutes, after which a Deployment counts as failed by default."""


class Scaling(NamedTuple):
    """Replica bounds and the trigger of the autoscaler.

    Attributes:
        recommended: Whether the trigger comes from the recommended configuration rather than the Playground.
    """

    minimum: int
    maximum: int | None
    trigger: HPATrigger
    recommended: bool

    @property
    def most(self) -> int:
        """The upper bound; without one, llmaz's own default applies."""
        return UNLIMITED if self.maximum is None else self.maximum


@dataclass(slots=True)
class DesiredWorkload:
    """The workload of a Playground or Service, before its kind is chosen.

    Attributes:
        template: ``leaderWorkerTemplate`` in wire form; rendering changes it in place.
        replicas: Replicas at rest.
        annotations: Annotations for the LeaderWorkerSet controller, such as exclusive topology.
        line: Command line of a Playground's container; None for the hand-written containers of a Service.
    """

    name: str
    namespace: str
    claim: Claim
    replicas: int
    template: Object
    rollout: Object
    annotations: dict[str, str] = field(default_factory=dict)
    parallelism: Parallelism = field(default_factory=Parallelism)
    line: CommandLine | None = None
    scaling: Scaling | None = None

    @property
    def by_hand(self) -> bool:
        """Whether the pods are hand-written, as those of a Service."""
        return self.line is None

    @property
    def size(self) -> int:
        """Pods of one replica."""
        size: int = self.template.get("size", 1)
        return size

    @property
    def front_part(self) -> str:
        """Field of the template whose pods take requests."""
        return "leaderTemplate" if self.template.get("leaderTemplate") else "workerTemplate"

    @property
    def front(self) -> Object:
        """The template of the pods that take requests."""
        template: Object = self.template[self.front_part]
        return template

    @property
    def templates(self) -> dict[str, Object]:
        """Every pod template, leader first."""
        parts = ("leaderTemplate", "workerTemplate")
        return {part: self.template[part] for part in parts if self.template.get(part)}


class Realized(NamedTuple):
    """A workload with its endpoint and autoscaler."""

    workload: Workload
    endpoint: Endpoint
    autoscaler: Autoscaler | None
    requires: frozenset[str]


def realize(
    source: LoadedResource,
    desired: DesiredWorkload,
    options: Options,
    findings: Findings,
    *,
    lacks_service: bool = False,
) -> Realized:
    """Return the workload, its endpoint and its autoscaler.

    With realization operator, the result describes the objects that the operator creates, which is always a
    LeaderWorkerSet.

    Args:
        source: The resource, in the contract's form.
        desired: Its workload.
        options: Rendering options.
        findings: Receives the problems.
        lacks_service: Whether the operator creates no Service, which is then created beside it.
    """
    operated = not options.realization.is_native
    metrics = desired.scaling.trigger.metrics if desired.scaling else None
    server = turn_on_metrics(desired.front, _server(source, desired), metrics, options, findings)
    prefix = path_prefix(server.line)
    if prefix and not desired.by_hand:
        container = desired.front["spec"]["containers"][server.position]
        # The backend's probes do not have the path prefix that a Playground gives its server.
        for name in ("startupProbe", "livenessProbe", "readinessProbe"):
            probe: Object = container.get(name) or {}
            path = probe.get("httpGet", {}).get("path")
            if path and not path.startswith(f"{prefix}/"):
                container[name] = {**probe, "httpGet": {**probe["httpGet"], "path": prefix + path}}
    for template in desired.templates.values():
        _finish_template(template, desired, options, findings)
    _add_metadata(desired.front, desired.claim)
    shape = LEADER_WORKER_SET if operated else _workload_shape(desired, options, findings)
    port = declared_port(desired.front["spec"]["containers"][server.position], server.line) or PORT
    body, selector = _deployment(desired) if shape is DEPLOYMENT else _leader_worker_set(desired)
    workload = Workload(
        body=body,
        server=server,
        port=port,
        replicas=desired.replicas,
        pods=_pod_demands(desired, options),
        model=desired.claim.main.metadata.name,
        origin=Origin(source, "spec"),
        most=desired.scaling.most if desired.scaling else None,
        operated=operated,
    )
    endpoint = _endpoint(source, desired, server)
    if not operated or lacks_service:
        ports = [{"name": "http", "port": PORT, "protocol": "TCP", "targetPort": port}]
        balancer = {"ports": ports, "selector": selector}
        endpoint = replace(endpoint, body=new_object("v1", "Service", endpoint.service, desired.namespace, balancer))
    return Realized(workload, endpoint, _autoscaler(source, desired, shape, operated=operated), shape.requires)


def _server(source: LoadedResource, desired: DesiredWorkload) -> Server:
    # A Playground names its engine, even if a mirror renames the image.
    if desired.line is None:
        path = f"spec.workloadTemplate.{desired.front_part}.spec.containers"
        server = server_of(desired.front["spec"]["containers"], source, path, preferred=RUNNER)
        return replace(server, weights=named_weights(desired.claim))
    args = Origin(source, "spec.backendRuntimeConfig.args")
    # Params would contradict a flag that is set already.
    is_set_by_flag = desired.line.holds(Setting.TENSOR_PARALLEL) and desired.parallelism.tensor is None
    spread = None if is_set_by_flag else SpreadField("add params: {TP: '{tensor}'}", is_whole=True)
    return Server(
        position=0,
        line=desired.line,
        args=args,
        ports=Origin(source, "spec"),
        image=ImageField(Origin(source, "spec.backendRuntimeConfig.version"), is_tag=True),
        weights=named_weights(desired.claim),
        spread=spread,
        shared_memory="set spec.backendRuntimeConfig.sharedMemorySize to 2Gi",
    )


def _endpoint(source: LoadedResource, desired: DesiredWorkload, server: Server) -> Endpoint:
    """Return the endpoint of the ``-lb`` Service. Every shipped engine serves the OpenAI API under ``/v1``."""
    service = f"{desired.name}-lb"
    model = desired.claim.main.metadata.name
    return Endpoint(
        name=desired.name,
        namespace=desired.namespace,
        model=served_name(desired.claim.main),
        url=f"http://{service}.{desired.namespace}.svc.cluster.local:{PORT}{path_prefix(server.line)}/v1",
        api="openai",
        port=PORT,
        backends=(Backend(service, desired.namespace, PORT, desired.name, desired.replicas),),
        weights=WeightsOwner("OpenModel", "", model),
        origin=Origin(source),
    )


def _workload_shape(desired: DesiredWorkload, options: Options, findings: Findings) -> WorkloadShape:
    """Choose a Deployment if a replica is one pod and needs no feature of LeaderWorkerSets (decision 58)."""
    fields = ("subGroupPolicy", "volumeClaimTemplates", "networkConfig")
    group_fields = [key for key in fields if desired.template.get(key)]
    partition = (desired.rollout.get("rollingUpdateConfiguration") or {}).get("partition")
    reasons = [f"{desired.size} pods per replica"] if desired.size > 1 else []
    reasons += [*group_fields, *(["partition"] if partition else [])]
    reasons += [f"annotation {key}" for key in desired.annotations]
    if options.workload == WorkloadChoice.LWS or (options.workload == WorkloadChoice.AUTO and reasons):
        return LEADER_WORKER_SET
    if reasons:
        raise findings.fail(
            "spec", f"{reasons[0]} requires a LeaderWorkerSet; set workload to 'auto' or 'lws'", RuleId.SETTINGS
        )
    return DEPLOYMENT


def _replicas(desired: DesiredWorkload) -> Object:
    # An autoscaler owns the replicas (decision 58).
    return {} if desired.scaling else {"replicas": desired.replicas}


def _leader_worker_set(desired: DesiredWorkload) -> tuple[Object, dict[str, str]]:
    """Return a LeaderWorkerSet and the labels of the pods that take requests."""
    template = desired.template
    restart = template.get("restartPolicy")
    group: Object = {"size": desired.size}
    if restart:
        # The webhook rewrites the deprecated value, so declaring it would show a difference forever.
        group["restartPolicy"] = "None" if restart == "Default" else restart
    for key in ("leaderTemplate", "workerTemplate", "subGroupPolicy", "volumeClaimTemplates",
                "persistentVolumeClaimRetentionPolicy"):  # fmt: skip
        if template.get(key):
            group[key] = template[key]
    spec = {
        **_replicas(desired),
        # A leader that becomes ready only with its workers would wait for them forever (llmaz spec 2.9).
        "startupPolicy": "LeaderCreated" if desired.size > 1 else "LeaderReady",
        "rolloutStrategy": desired.rollout,
        "leaderWorkerTemplate": group,
    }
    if desired.template.get("networkConfig"):
        spec["networkConfig"] = desired.template["networkConfig"]
    body = new_object(LEADER_WORKER_SET.api_version, LEADER_WORKER_SET.kind, desired.name, desired.namespace, spec)
    if desired.annotations:
        body["metadata"]["annotations"] = desired.annotations
    return body, {f"{LWS_LABEL}/name": desired.name, f"{LWS_LABEL}/worker-index": "0"}


def _deployment(desired: DesiredWorkload) -> tuple[Object, dict[str, str]]:
    """Return a Deployment and the labels of its pods."""
    selector = {"app.kubernetes.io/name": "llmaz-service", "app.kubernetes.io/instance": desired.name}
    template = desired.front
    # The selector's labels win: the API server rejects a template that its Deployment does not select.
    template["metadata"]["labels"] = {**selector, **template["metadata"]["labels"], **selector}
    update = desired.rollout.get("rollingUpdateConfiguration") or {}
    spec = {
        **_replicas(desired),
        "progressDeadlineSeconds": _LOADING_SECONDS,
        "selector": {"matchLabels": selector},
        # Defaults of a LeaderWorkerSet: a surge would need an idle accelerator.
        "strategy": {
            "type": "RollingUpdate",
            "rollingUpdate": {
                "maxUnavailable": update.get("maxUnavailable", 1),
                "maxSurge": update.get("maxSurge", 0),
            },
        },
        "template": template,
    }
    return new_object(DEPLOYMENT.api_version, DEPLOYMENT.kind, desired.name, desired.namespace, spec), selector


def _finish_template(template: Object, desired: DesiredWorkload, options: Options, findings: Findings) -> None:
    """Add flavors, models and the environment's overrides to a pod template, in place."""
    spec = template["spec"]
    if not spec.get("schedulerName"):
        spec["schedulerName"] = options.scheduler_name
    limits = limits_of(desired.claim.flavor, desired.parallelism)
    runner = next((c for c in spec["containers"] if c["name"] == RUNNER), None)
    if runner and limits:
        # The flavor's limits become requests and limits, and replace those of the container (spec 2.7).
        resources = runner.get("resources") or {}
        runner["resources"] = {
            **resources,
            "limits": {**(resources.get("limits") or {}), **limits},
            "requests": {**(resources.get("requests") or {}), **limits},
        }
    mount_models(spec, desired.claim, options, findings)
    assign_nodes(spec, node_choices(desired.claim.flavors, options.alternatives))
    override_pod(template, options.overrides)
    if options.realization.is_native:
        disable_token_mount(spec)


def _add_metadata(template: Object, claim: Claim) -> None:
    """Label the pods that take requests with their model, and annotate the chosen flavors."""
    metadata = template.setdefault("metadata", {})
    template["spec"] = template.pop("spec")  # metadata reads better before the spec
    metadata["labels"] = {
        **(metadata.get("labels") or {}),
        "llmaz.io/model-name": claim.main.metadata.name,
        "llmaz.io/model-family-name": claim.main.spec.family_name,
    }
    if claim.flavor_names:
        flavors = {"llmaz.io/inference-service-flavors": ",".join(claim.flavor_names)}
        metadata["annotations"] = {**(metadata.get("annotations") or {}), **flavors}


def _pod_demands(desired: DesiredWorkload, options: Options) -> tuple[PodDemand, ...]:
    """Return the pods at rest and the resources that each requests."""
    choices = node_choices(desired.claim.flavors, options.alternatives, desired.claim.chosen_by)
    most = desired.scaling.most if desired.scaling else None
    surge = group_update(desired.rollout).added(desired.replicas if most is None else most)
    node_field = unflavored(desired.claim.chosen_by)

    def demand(template: Object, pods: int) -> PodDemand:
        requests = requests_of(template["spec"])
        at_most = most if most is None else most * pods
        return PodDemand(
            pods=desired.replicas * pods,
            requests=requests,
            choices=choices,
            max_pods=at_most,
            surge_pods=surge * pods,
            per_replica=pods,
            node_field=node_field,
        )

    leader, worker = desired.template.get("leaderTemplate"), desired.template["workerTemplate"]
    if leader is None:
        return (demand(worker, desired.size),)
    return (demand(leader, 1), *((demand(worker, desired.size - 1),) if desired.size > 1 else ()))


def _autoscaler(
    source: LoadedResource, desired: DesiredWorkload, shape: WorkloadShape, *, operated: bool
) -> Autoscaler | None:
    """Return the autoscaler of a workload; None without one."""
    scaling = desired.scaling
    if scaling is None:
        return None
    spec: Object = {
        "scaleTargetRef": shape.target(desired.name),
        "minReplicas": scaling.minimum,
        "maxReplicas": scaling.most,
    }
    if scaling.trigger.metrics:
        spec["metrics"] = scaling.trigger.metrics
    if scaling.trigger.behavior:
        spec["behavior"] = scaling.trigger.behavior
    hpa = new_object("autoscaling/v2", HPA, desired.name, desired.namespace, spec)

    def origin(path: str) -> Origin:
        if path == "minReplicas":
            return Origin(source, "spec.elasticConfig.minReplicas")
        if scaling.recommended:
            return Origin(source, "spec.elasticConfig", f"recommended scaleTrigger.hpa.{path}: ")
        return Origin(source, f"spec.elasticConfig.scaleTrigger.hpa.{path}")

    # The operator's HPA scales the Playground (newHPA in pkg/controller/inference/playground_controller.go).
    resource = (source.kind.kind, desired.namespace, source.name) if operated else None
    return Autoscaler(hpa, origin, operated=operated, resource=resource)

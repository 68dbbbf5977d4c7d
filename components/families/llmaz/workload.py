"""A Service of llmaz becomes a workload, a core Service and perhaps an autoscaler (llmaz spec 2.6, 2.8)."""

import math
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

from ...api.findings import Findings, Unrenderable
from ...api.load import Loaded
from ...fleet import capabilities
from ...fleet.autoscalers import Autoscaler
from ...fleet.demand import UNLIMITED, PodDemand
from ...fleet.endpoints import Backend, Endpoint, Weights
from ...fleet.objects import DEPLOYMENT, HPA, LEADER_WORKER_SET, LWS_LABEL, Object, new_object
from ...fleet.options import Options, PodOverrides
from ...fleet.origins import Origin
from ...fleet.placement import place, requests_of
from ...fleet.serving import command_line, server_of
from ...fleet.words import WorkloadChoice
from ...fleet.workloads import Server, Workload
from .backend import PORT, serving_port
from .flavors import node_choices
from .loaders import RUNNER, mount_models
from .metric_flags import turn_on_metrics
from .models import Claim, served_name
from .parallel import Parallelism, limits_of
from .types import HPATrigger

_LOADING_SECONDS = 3600
"""Loading a large model takes longer than the ten minutes after which a Deployment counts as failed."""


@dataclass(frozen=True, slots=True)
class Scaling:
    """Replica bounds and what moves between them.

    Attributes:
        recommended: Whether the trigger is the configuration's, and not written in the Playground.
    """

    minimum: int
    maximum: int | None
    trigger: HPATrigger
    recommended: bool

    @property
    def most(self) -> int:
        """The upper bound; llmaz has one where none is given."""
        return UNLIMITED if self.maximum is None else self.maximum


@dataclass(slots=True)
class Asked:
    """What a Playground or Service asks for, before it is a Deployment or a LeaderWorkerSet.

    Attributes:
        template: ``leaderWorkerTemplate`` in wire form; rendering changes it in place.
        replicas: Replicas at rest.
        backend: Engine and version of a Playground; None where the containers are written by hand.
    """

    name: str
    namespace: str
    claim: Claim
    replicas: int
    template: Object
    rollout: Object
    cut: Parallelism = field(default_factory=Parallelism)
    backend: tuple[str, str] | None = None
    scaling: Scaling | None = None

    @property
    def size(self) -> int:
        """Pods of one replica."""
        size: int = self.template.get("size", 1)
        return size

    @property
    def front_part(self) -> str:
        """Field of the template of the pods that take requests."""
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


@dataclass(frozen=True, slots=True)
class Realized:
    """A workload made of Kubernetes objects."""

    workload: Workload
    endpoint: Endpoint
    autoscaler: Autoscaler | None
    requires: frozenset[str]


def realize(source: Loaded, asked: Asked, options: Options, findings: Findings) -> Realized:
    """Return the workload, its endpoint, and what moves its replicas.

    The operator makes LeaderWorkerSets alone, and autoscalers and Services by itself: what it makes is told as well.
    """
    operated = not options.realization.is_native
    metrics = asked.scaling.trigger.metrics if asked.scaling else None
    turn_on_metrics(asked.front, _server(source, asked), metrics, options, findings)
    server = _server(source, asked)
    for part, template in asked.templates.items():
        _finish_template(template, asked, f"spec.workloadTemplate.{part}.spec", options, findings)
    _label(asked.front, asked.claim)
    kind = LEADER_WORKER_SET if operated else _workload_kind(asked, options, findings)
    port = _port(asked.front["spec"], server)
    body, selector = _deployment(asked) if kind == DEPLOYMENT else _leader_worker_set(asked)
    workload = Workload(
        body=body,
        server=server,
        port=port,
        replicas=asked.replicas,
        pods=demand_of(asked, options),
        model=asked.claim.main.metadata.name,
        origin=Origin(source, "spec"),
        most=asked.scaling.most if asked.scaling else None,
        operated=operated,
    )
    endpoint = _endpoint(source, asked)
    if not operated:
        endpoint = replace(endpoint, body=_balancer(asked, endpoint.service, selector, port))
    needs = {capabilities.LEADER_WORKER_SET} if kind == LEADER_WORKER_SET else set[str]()
    return Realized(workload, endpoint, _autoscaler(source, asked, body, operated=operated), frozenset(needs))


def _server(source: Loaded, asked: Asked) -> Server:
    """Return the container that serves; a Playground says which engine it runs, whatever a mirror calls the image."""
    containers = asked.front["spec"]["containers"]
    if asked.backend is None:
        path = f"spec.workloadTemplate.{asked.front_part}.spec.containers"
        return server_of(containers, source, path, preferred=RUNNER)
    line = command_line(containers[0], *asked.backend)
    return Server(0, line, Origin(source, "spec.backendRuntimeConfig.args"), Origin(source, "spec"))


def _endpoint(source: Loaded, asked: Asked) -> Endpoint:
    """Return where the ``-lb`` Service answers; every shipped engine speaks the OpenAI API under ``/v1``."""
    service = f"{asked.name}-lb"
    model = asked.claim.main.metadata.name
    return Endpoint(
        name=asked.name,
        namespace=asked.namespace,
        model=served_name(asked.claim.main),
        url=f"http://{service}.{asked.namespace}.svc.cluster.local:{PORT}/v1",
        api="openai",
        port=PORT,
        backends=(Backend(service, asked.namespace, PORT, asked.name, asked.replicas),),
        weights=Weights("OpenModel", "", model),
        origin=Origin(source),
    )


def demand_of(asked: Asked, options: Options) -> tuple[PodDemand, ...]:
    """Return the pods at rest and what each of them asks for."""
    choices = node_choices(asked.claim.flavors, options.alternatives, asked.claim.chosen_by)
    most = asked.scaling.most if asked.scaling else None
    surge = _surge(asked, asked.replicas if most is None else most)

    def demand(template: Object, pods: int) -> PodDemand:
        requests = requests_of(template["spec"])
        at_most = most if most is None else most * pods
        return PodDemand(asked.replicas * pods, requests, choices, at_most, surge * pods, pods)

    leader, worker = asked.template.get("leaderTemplate"), asked.template["workerTemplate"]
    if leader is None:
        return (demand(worker, asked.size),)
    return (demand(leader, 1), *((demand(worker, asked.size - 1),) if asked.size > 1 else ()))


def _surge(asked: Asked, replicas: int) -> int:
    """Count the replicas that an update adds for a while; a share is rounded up, as both controllers do."""
    stated = (asked.rollout.get("rollingUpdateConfiguration") or {}).get("maxSurge", 0)
    if isinstance(stated, str):
        return math.ceil(Decimal(stated.removesuffix("%")) * replicas / 100)
    return int(stated)


def _finish_template(template: Object, asked: Asked, path: str, options: Options, findings: Findings) -> None:
    spec = template["spec"]
    if not spec.get("schedulerName"):
        spec["schedulerName"] = options.scheduler_name
    _limit(spec, asked)
    mount_models(spec, asked.claim, path, options, findings)
    place(spec, node_choices(asked.claim.flavors, options.alternatives))
    _override(template, options.overrides)


def _limit(spec: Object, asked: Asked) -> None:
    """Write the flavor's limits to requests and limits of the model runner, over what is there (spec 2.7)."""
    limits = limits_of(asked.claim.flavor, asked.cut)
    runner = next((c for c in spec["containers"] if c["name"] == RUNNER), None)
    if runner is None or not limits:
        return
    resources = runner.get("resources") or {}
    runner["resources"] = {
        **resources,
        "limits": {**(resources.get("limits") or {}), **limits},
        "requests": {**(resources.get("requests") or {}), **limits},
    }


def _override(template: Object, overrides: PodOverrides) -> None:
    """Add what the environment asks of every pod; a template that says otherwise keeps its word."""
    spec = template["spec"]
    if overrides.tolerations:
        spec["tolerations"] = [*spec.get("tolerations", []), *overrides.tolerations]
    if overrides.service_account_name:
        spec.setdefault("serviceAccountName", overrides.service_account_name)
    if overrides.image_pull_secrets:
        spec.setdefault("imagePullSecrets", [{"name": name} for name in overrides.image_pull_secrets])
    if overrides.priority_class_name:
        spec.setdefault("priorityClassName", overrides.priority_class_name)
    if overrides.node_selector:
        spec["nodeSelector"] = {**overrides.node_selector, **spec.get("nodeSelector", {})}
    for part, values in (("labels", overrides.labels), ("annotations", overrides.annotations)):
        if values:
            metadata = template.setdefault("metadata", {})
            metadata[part] = {**values, **(metadata.get(part) or {})}


def _label(template: Object, claim: Claim) -> None:
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


def _workload_kind(asked: Asked, options: Options, findings: Findings) -> str:
    """Choose by design decision 5: a Deployment where a replica is one pod, unless it asks for more."""
    group = [key for key in ("subGroupPolicy", "volumeClaimTemplates") if asked.template.get(key)]
    partition = (asked.rollout.get("rollingUpdateConfiguration") or {}).get("partition")
    reasons = [f"{asked.size} pods per replica"] * (asked.size > 1) + group + ["partition"] * bool(partition)
    if options.workload == WorkloadChoice.LWS or (options.workload == WorkloadChoice.AUTO and reasons):
        return LEADER_WORKER_SET
    if reasons:
        raise _needs_lws(reasons[0], findings)
    return DEPLOYMENT


def _needs_lws(reason: str, findings: Findings) -> Unrenderable:
    return findings.fail("spec", f"{reason} needs a LeaderWorkerSet; set workload to 'auto' or 'lws'")


def _replicas(asked: Asked) -> Object:
    """The autoscaler owns the replicas where there is one (design decision 10)."""
    return {} if asked.scaling else {"replicas": asked.replicas}


def _leader_worker_set(asked: Asked) -> tuple[Object, dict[str, str]]:
    template = asked.template
    restart = template.get("restartPolicy")
    group: Object = {"size": asked.size}
    if restart:
        # The webhook rewrites the deprecated word; declaring it would show a difference for ever.
        group["restartPolicy"] = "None" if restart == "Default" else restart
    for key in ("leaderTemplate", "workerTemplate", "subGroupPolicy", "volumeClaimTemplates",
                "persistentVolumeClaimRetentionPolicy"):  # fmt: skip
        if template.get(key):
            group[key] = template[key]
    spec = {
        **_replicas(asked),
        # A leader that becomes ready only with its workers would wait for them for ever (llmaz spec 2.9).
        "startupPolicy": "LeaderCreated" if asked.size > 1 else "LeaderReady",
        "rolloutStrategy": asked.rollout,
        "leaderWorkerTemplate": group,
    }
    body = new_object("leaderworkerset.x-k8s.io/v1", LEADER_WORKER_SET, asked.name, asked.namespace, spec)
    return body, {f"{LWS_LABEL}/name": asked.name, f"{LWS_LABEL}/worker-index": "0"}


def _deployment(asked: Asked) -> tuple[Object, dict[str, str]]:
    selector = {"app.kubernetes.io/name": "llmaz-service", "app.kubernetes.io/instance": asked.name}
    template = asked.front
    # The selector's own labels win: a pod that its Deployment does not select is refused.
    template["metadata"]["labels"] = {**selector, **template["metadata"]["labels"], **selector}
    moved = asked.rollout.get("rollingUpdateConfiguration") or {}
    spec = {
        **_replicas(asked),
        "progressDeadlineSeconds": _LOADING_SECONDS,
        "selector": {"matchLabels": selector},
        # The numbers of a LeaderWorkerSet: surging would need an idle accelerator.
        "strategy": {
            "type": "RollingUpdate",
            "rollingUpdate": {
                "maxUnavailable": moved.get("maxUnavailable", 1),
                "maxSurge": moved.get("maxSurge", 0),
            },
        },
        "template": template,
    }
    return new_object("apps/v1", DEPLOYMENT, asked.name, asked.namespace, spec), selector


def _port(spec: Object, server: Server) -> int:
    """Find where the engine listens: the port named ``http``, its last ``--port``, what it declares, else 8080."""
    runner = next((c for c in spec["containers"] if c["name"] == RUNNER), spec["containers"][0])
    flag = serving_port([*(runner.get("command") or []), *(runner.get("args") or [])])
    declared: list[Any] = runner.get("ports") or []
    named = next((p for p in declared if p.get("name") == "http"), None)
    if named:
        return int(named["containerPort"])
    return flag or (int(declared[0]["containerPort"]) if declared else PORT)


def _balancer(asked: Asked, name: str, selector: dict[str, str], port: int) -> Object:
    ports = [{"name": "http", "port": PORT, "protocol": "TCP", "targetPort": port}]
    return new_object("v1", "Service", name, asked.namespace, {"ports": ports, "selector": selector})


def _autoscaler(source: Loaded, asked: Asked, body: Object, *, operated: bool) -> Autoscaler | None:
    scaling = asked.scaling
    if scaling is None:
        return None
    target = {"apiVersion": body["apiVersion"], "kind": body["kind"], "name": asked.name}
    spec: Object = {
        "scaleTargetRef": target,
        "minReplicas": scaling.minimum,
        "maxReplicas": scaling.most,
    }
    if scaling.trigger.metrics:
        spec["metrics"] = scaling.trigger.metrics
    if scaling.trigger.behavior:
        spec["behavior"] = scaling.trigger.behavior
    hpa = new_object("autoscaling/v2", HPA, asked.name, asked.namespace, spec)

    def blame(path: str) -> Origin:
        if path == "minReplicas":
            return Origin(source, "spec.elasticConfig.minReplicas")
        if scaling.recommended:
            return Origin(source, "spec.elasticConfig", f"recommended scaleTrigger.hpa.{path}: ")
        return Origin(source, f"spec.elasticConfig.scaleTrigger.hpa.{path}")

    return Autoscaler(hpa, blame, operated=operated)

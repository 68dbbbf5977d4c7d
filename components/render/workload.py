"""A Service of llmaz becomes a workload, a core Service and perhaps an autoscaler (llmaz spec 2.6, 2.8)."""

import math
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from ..api.llmaz import HPATrigger
from .findings import Findings, Unrenderable
from .loaders import RUNNER, mount_models
from .metric_flags import turn_on_metrics
from .models import Claim, served_name
from .options import Options, PodOverrides
from .parallel import Parallelism, limits_of
from .placement import node_choices, place, requests_of
from .runtime import PORT, serving_port
from .types import (
    CUSTOM_METRICS,
    EXTERNAL_METRICS,
    LEADER_WORKER_SET,
    RESOURCE_METRICS,
    Endpoint,
    Object,
    PodDemand,
)

UNLIMITED = 99999
"""Upper bound of an autoscaler without one (llmaz spec 1.3)."""
_LWS_LABEL = "leaderworkerset.sigs.k8s.io"
_LOADING_SECONDS = 3600
"""Loading a large model takes longer than the ten minutes after which a Deployment counts as failed."""
_METRIC_NEEDS = {
    "Resource": RESOURCE_METRICS,
    "ContainerResource": RESOURCE_METRICS,
    "Pods": CUSTOM_METRICS,
    "Object": CUSTOM_METRICS,
    "External": EXTERNAL_METRICS,
}


@dataclass(frozen=True, slots=True)
class Scaling:
    """Replica bounds and what moves between them."""

    minimum: int
    maximum: int | None
    trigger: HPATrigger


@dataclass(slots=True)
class Workload:
    """What a Playground or Service asks for, before it is a Deployment or a LeaderWorkerSet.

    Attributes:
        template: ``leaderWorkerTemplate`` in wire form; rendering changes it in place.
        replicas: Replicas at rest.
    """

    name: str
    namespace: str
    claim: Claim
    replicas: int
    template: Object
    rollout: Object
    cut: Parallelism = field(default_factory=Parallelism)
    scaling: Scaling | None = None

    @property
    def size(self) -> int:
        """Pods of one replica."""
        size: int = self.template.get("size", 1)
        return size

    @property
    def front(self) -> Object:
        """The template of the pods that take requests."""
        template: Object = self.template.get("leaderTemplate") or self.template["workerTemplate"]
        return template

    @property
    def templates(self) -> dict[str, Object]:
        """Every pod template, leader first."""
        parts = ("leaderTemplate", "workerTemplate")
        return {part: self.template[part] for part in parts if self.template.get(part)}


@dataclass(frozen=True, slots=True)
class Realized:
    """A workload made of Kubernetes objects."""

    kind: str
    objects: tuple[Object, ...]
    endpoint: Endpoint
    pods: tuple[PodDemand, ...]
    needs: frozenset[str]


def realize(workload: Workload, options: Options, findings: Findings) -> Realized:
    """Return the objects of a workload, its endpoint, and what its pods need."""
    turn_on_metrics(
        workload.template, workload.scaling.trigger.metrics if workload.scaling else None, options, findings
    )
    for part, template in workload.templates.items():
        _finish_template(template, workload, f"spec.workloadTemplate.{part}.spec", options, findings)
    _label(workload.front, workload.claim)
    kind = _workload_kind(workload, options, findings)
    port = _port(workload.front["spec"])
    body, selector = _deployment(workload) if kind == "Deployment" else _leader_worker_set(workload)
    objects = [body, _balancer(workload, selector, port)]
    needs = {LEADER_WORKER_SET} if kind == "LeaderWorkerSet" else set[str]()
    if workload.scaling:
        objects.append(_autoscaler(workload, workload.scaling, body))
        needs |= _metric_needs(workload.scaling.trigger)
    return Realized(kind, tuple(objects), endpoint_of(workload.name, workload.namespace, workload.claim),
                    demand_of(workload, options), frozenset(needs))  # fmt: skip


def endpoint_of(name: str, namespace: str, claim: Claim) -> Endpoint:
    """Return where the ``-lb`` Service answers; every shipped engine speaks the OpenAI API under ``/v1``."""
    service = f"{name}-lb"
    url = f"http://{service}.{namespace}.svc.cluster.local:{PORT}/v1"
    return Endpoint(served_name(claim.main), url, "openai", PORT, namespace, service)


def demand_of(workload: Workload, options: Options) -> tuple[PodDemand, ...]:
    """Return the pods at rest and what each of them asks for."""
    choices = node_choices(workload.claim.flavors, options.alternatives)
    most = None
    if workload.scaling:
        most = UNLIMITED if workload.scaling.maximum is None else workload.scaling.maximum
    surge = _surge(workload, workload.replicas if most is None else most)

    def demand(template: Object, pods: int) -> PodDemand:
        requests = requests_of(template["spec"])
        at_most = most if most is None else most * pods
        return PodDemand(workload.replicas * pods, requests, choices, at_most, surge * pods)

    leader, worker = workload.template.get("leaderTemplate"), workload.template["workerTemplate"]
    if leader is None:
        return (demand(worker, workload.size),)
    return (demand(leader, 1), *((demand(worker, workload.size - 1),) if workload.size > 1 else ()))


def _surge(workload: Workload, replicas: int) -> int:
    """Count the replicas that an update adds for a while; a share is rounded up, as both controllers do."""
    stated = (workload.rollout.get("rollingUpdateConfiguration") or {}).get("maxSurge", 0)
    if isinstance(stated, str):
        return math.ceil(Decimal(stated.removesuffix("%")) * replicas / 100)
    return int(stated)


def _finish_template(template: Object, workload: Workload, path: str, options: Options, findings: Findings) -> None:
    spec = template["spec"]
    if not spec.get("schedulerName"):
        spec["schedulerName"] = options.scheduler_name
    _limit(spec, workload)
    mount_models(spec, workload.claim, path, options, findings)
    place(spec, node_choices(workload.claim.flavors, options.alternatives))
    _override(template, options.overrides)


def _limit(spec: Object, workload: Workload) -> None:
    """Write the flavor's limits to requests and limits of the model runner, over what is there (spec 2.7)."""
    limits = limits_of(workload.claim.flavor, workload.cut)
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


def _workload_kind(workload: Workload, options: Options, findings: Findings) -> str:
    """Choose by design decision 5: a Deployment where a replica is one pod, unless it asks for more."""
    group = [key for key in ("subGroupPolicy", "volumeClaimTemplates") if workload.template.get(key)]
    partition = (workload.rollout.get("rollingUpdateConfiguration") or {}).get("partition")
    reasons = [f"{workload.size} pods per replica"] * (workload.size > 1) + group + ["partition"] * bool(partition)
    if options.workload == "lws" or (options.workload == "auto" and reasons):
        return "LeaderWorkerSet"
    if reasons:
        raise _needs_lws(reasons[0], findings)
    return "Deployment"


def _needs_lws(reason: str, findings: Findings) -> Unrenderable:
    return findings.fail("spec", f"{reason} needs a LeaderWorkerSet; set workload to 'auto' or 'lws'")


def _replicas(workload: Workload) -> Object:
    """The autoscaler owns the replicas where there is one (design decision 10)."""
    return {} if workload.scaling else {"replicas": workload.replicas}


def _leader_worker_set(workload: Workload) -> tuple[Object, dict[str, str]]:
    template = workload.template
    restart = template.get("restartPolicy")
    group: Object = {"size": workload.size}
    if restart:
        # The webhook rewrites the deprecated word; declaring it would show a difference for ever.
        group["restartPolicy"] = "None" if restart == "Default" else restart
    for key in ("leaderTemplate", "workerTemplate", "subGroupPolicy", "volumeClaimTemplates",
                "persistentVolumeClaimRetentionPolicy"):  # fmt: skip
        if template.get(key):
            group[key] = template[key]
    spec = {
        **_replicas(workload),
        # A leader that becomes ready only with its workers would wait for them for ever (llmaz spec 2.9).
        "startupPolicy": "LeaderCreated" if workload.size > 1 else "LeaderReady",
        "rolloutStrategy": workload.rollout,
        "leaderWorkerTemplate": group,
    }
    body = _object("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", workload.name, workload, spec)
    return body, {f"{_LWS_LABEL}/name": workload.name, f"{_LWS_LABEL}/worker-index": "0"}


def _deployment(workload: Workload) -> tuple[Object, dict[str, str]]:
    selector = {"app.kubernetes.io/name": "llmaz-service", "app.kubernetes.io/instance": workload.name}
    template = workload.front
    # The selector's own labels win: a pod that its Deployment does not select is refused.
    template["metadata"]["labels"] = {**selector, **template["metadata"]["labels"], **selector}
    moved = workload.rollout.get("rollingUpdateConfiguration") or {}
    spec = {
        **_replicas(workload),
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
    return _object("apps/v1", "Deployment", workload.name, workload, spec), selector


def _port(spec: Object) -> int:
    """Find where the engine listens: the port named ``http``, its last ``--port``, what it declares, else 8080."""
    runner = next((c for c in spec["containers"] if c["name"] == RUNNER), spec["containers"][0])
    flag = serving_port([*(runner.get("command") or []), *(runner.get("args") or [])])
    declared: list[Any] = runner.get("ports") or []
    named = next((p for p in declared if p.get("name") == "http"), None)
    if named:
        return int(named["containerPort"])
    return flag or (int(declared[0]["containerPort"]) if declared else PORT)


def _balancer(workload: Workload, selector: dict[str, str], port: int) -> Object:
    ports = [{"name": "http", "port": PORT, "protocol": "TCP", "targetPort": port}]
    return _object("v1", "Service", f"{workload.name}-lb", workload, {"ports": ports, "selector": selector})


def _autoscaler(workload: Workload, scaling: Scaling, body: Object) -> Object:
    target = {"apiVersion": body["apiVersion"], "kind": body["kind"], "name": workload.name}
    spec: Object = {
        "scaleTargetRef": target,
        "minReplicas": scaling.minimum,
        "maxReplicas": UNLIMITED if scaling.maximum is None else scaling.maximum,
    }
    if scaling.trigger.metrics:
        spec["metrics"] = scaling.trigger.metrics
    if scaling.trigger.behavior:
        spec["behavior"] = scaling.trigger.behavior
    return _object("autoscaling/v2", "HorizontalPodAutoscaler", workload.name, workload, spec)


def _metric_needs(trigger: HPATrigger) -> set[str]:
    """Name the metrics APIs behind a trigger; without metrics Kubernetes scales on CPU."""
    kinds = [metric.get("type", "Resource") for metric in trigger.metrics or ()] or ["Resource"]
    return {_METRIC_NEEDS[kind] for kind in kinds if kind in _METRIC_NEEDS}


def _object(api_version: str, kind: str, name: str, workload: Workload, spec: Object) -> Object:
    metadata = {"name": name, "namespace": workload.namespace}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": spec}

"""What a Pair, a Blend and a Nudge become."""

from decimal import Decimal

from components.contract.findings.collector import Findings
from components.contract.load import LoadedResource
from components.engines.images import parse_image
from components.engines.registry import engine_of
from components.engines.settings import Setting
from components.fleet.autoscalers import Autoscaler
from components.fleet.demand import NodeChoice, NodeField, PodDemand
from components.fleet.endpoints import Backend, Endpoint, WeightsOwner
from components.fleet.library import Library
from components.fleet.objects import HPA, Object, new_object
from components.fleet.options import Options
from components.fleet.origins import Origin
from components.fleet.placement import assign_nodes
from components.fleet.rendered import Rendered
from components.fleet.serving import server_of
from components.fleet.workloads import Workload

from .types import Blend, Engine, Nudge, Pair, PairSpec

PORT = 8000


def render_pair(source: LoadedResource, _library: Library, options: Options, findings: Findings) -> Rendered:
    pair = source.resource
    assert isinstance(pair, Pair)
    namespace = pair.metadata.namespace or options.namespace
    if pair.spec.first + pair.spec.second == 0:
        findings.error("spec.second", "must be above 0 where first is 0; nothing would serve")
    stages = {"first": pair.spec.first, "second": pair.spec.second}
    names = {stage: f"{source.name}-{stage}" for stage in stages}
    workloads = {s: _workload(source, pair.spec, s, names[s], namespace, n) for s, n in stages.items()}
    return Rendered(
        source,
        "Pair",
        source.name,
        namespace,
        workloads=tuple(workloads.values()),
        endpoints=tuple(_endpoint(source, workloads[stage], stage) for stage in stages),
        model=pair.spec.weights,
    )


def _workload(
    source: LoadedResource, spec: PairSpec, stage: str, name: str, namespace: str, replicas: int
) -> Workload:
    labels = {"toy.example/pair": source.name, "toy.example/stage": stage}
    container: Object = {
        "name": "server",
        "image": spec.image,
        "args": [spec.weights, "--port", str(PORT), *spec.flags],
        "ports": [{"name": "http", "containerPort": PORT}],
        "resources": {"limits": {"nvidia.com/gpu": spec.gpus}},
    }
    pod: Object = {"containers": [container]}
    field = NodeField(Origin(source, "spec.machine"), "machine", "set gpus to {count}")
    choice = NodeChoice("machine", spec.machine, chosen_by=field)
    assign_nodes(pod, (choice,))
    body = new_object(
        "apps/v1",
        "Deployment",
        name,
        namespace,
        {
            "replicas": replicas,
            "strategy": {"type": "Recreate"},
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": pod},
        },
    )
    return Workload(
        body=body,
        server=server_of([container], source, "spec.flags"),
        port=PORT,
        replicas=replicas,
        pods=(PodDemand(replicas, {"nvidia.com/gpu": Decimal(spec.gpus)}, (choice,)),),
        model=spec.weights,
        origin=Origin(source, "spec"),
        role=stage,
    )


def _endpoint(source: LoadedResource, workload: Workload, stage: str) -> Endpoint:
    ports = [{"name": "http", "port": 80, "targetPort": PORT, "protocol": "TCP"}]
    spec = {"ports": ports, "selector": workload.selector}
    return Endpoint(
        name=workload.name,
        namespace=workload.namespace,
        model=f"{workload.model}:{stage}",
        url=f"http://{workload.name}.{workload.namespace}.svc.cluster.local:80/v1",
        api="openai",
        port=80,
        backends=(Backend(workload.name, workload.namespace, 80, workload.name, workload.replicas),),
        weights=WeightsOwner("Pair", workload.namespace, source.name),
        origin=Origin(source),
        body=new_object("v1", "Service", workload.name, workload.namespace, spec),
    )


def render_blend(source: LoadedResource, _library: Library, options: Options, findings: Findings) -> Rendered:
    """Two Deployments behind one Service, and a StatefulSet behind another."""
    blend = source.resource
    assert isinstance(blend, Blend)
    spec, namespace = blend.spec, blend.metadata.namespace or options.namespace
    if spec.first.replicas + spec.second.replicas == 0:
        findings.error("spec.second.replicas", "must be above 0 where first has 0 replicas")
    serving, keeping = ({"toy.example/blend": source.name, "toy.example/serving": each} for each in ("yes", "kept"))
    first, second = (
        _engine_workload(source, each, f"{source.name}-{part}", namespace, serving, f"spec.{part}")
        for part, each in (("first", spec.first), ("second", spec.second))
    )
    kept = _engine_workload(
        source,
        spec.first.model_copy(update={"replicas": spec.kept_replicas}),
        f"{source.name}-kept",
        namespace,
        keeping,
        "spec.first",
        kind="StatefulSet",
    )
    endpoints = [_blended(source, source.name, source.name, serving, (first, second))]
    if spec.kept_replicas:
        endpoints.append(_blended(source, kept.name, kept.name, keeping, (kept,)))
    return Rendered(
        source,
        "Blend",
        source.name,
        namespace,
        workloads=(first, second, kept) if spec.kept_replicas else (first, second),
        endpoints=tuple(endpoints),
        model=source.name,
    )


def _engine_workload(
    source: LoadedResource,
    asked: Engine,
    name: str,
    namespace: str,
    serving: dict[str, str],
    path: str,
    kind: str = "Deployment",
) -> Workload:
    blend = source.resource
    assert isinstance(blend, Blend)
    engine = engine_of(parse_image(asked.image).repository)
    assert engine is not None
    values = {
        Setting.MODEL: blend.spec.weights,
        Setting.SERVED_NAME: name if kind == "StatefulSet" else source.name,
        Setting.HOST: "0.0.0.0",
        Setting.PORT: str(PORT),
    }
    words = [word for setting, value in values.items() for word in (engine.flag(setting), value)]
    container: Object = {
        "name": "server",
        "image": asked.image,
        "command": ["python3", "-m", engine.programs[-1]],
        "args": [*words, *asked.flags],
        "ports": [{"name": "http", "containerPort": PORT}],
        "resources": {"limits": {"nvidia.com/gpu": blend.spec.gpus}},
    }
    pod: Object = {"containers": [container]}
    labels = {**serving, "toy.example/part": name}
    choice = NodeChoice(
        "blend",
        blend.spec.instance_type,
        chosen_by=NodeField(Origin(source, "spec.instanceType"), "instanceType", "set gpus to {count}"),
    )
    assign_nodes(pod, (choice,))
    own: Object = {"serviceName": name} if kind == "StatefulSet" else {"strategy": {"type": "Recreate"}}
    return Workload(
        body=new_object(
            "apps/v1",
            kind,
            name,
            namespace,
            {
                "replicas": asked.replicas,
                **own,
                "selector": {"matchLabels": labels},
                "template": {"metadata": {"labels": labels}, "spec": pod},
            },
        ),
        server=server_of([container], source, f"{path}.flags"),
        port=PORT,
        replicas=asked.replicas,
        pods=(PodDemand(asked.replicas, {"nvidia.com/gpu": Decimal(blend.spec.gpus)}, (choice,)),),
        model=source.name,
        origin=Origin(source, path),
        role=path.rpartition(".")[2] if kind == "Deployment" else "kept",
    )


def _blended(
    source: LoadedResource, name: str, model: str, labels: dict[str, str], workloads: tuple[Workload, ...]
) -> Endpoint:
    namespace = workloads[0].namespace
    ports = [{"name": "http", "port": 80, "targetPort": PORT, "protocol": "TCP"}]
    return Endpoint(
        name=name,
        namespace=namespace,
        model=model,
        url=f"http://{name}.{namespace}.svc.cluster.local:80/v1",
        api="openai",
        port=80,
        backends=tuple(Backend(name, namespace, 80, each.name, each.replicas) for each in workloads),
        weights=WeightsOwner("Blend", namespace, source.name),
        origin=Origin(source),
        body=new_object("v1", "Service", name, namespace, {"ports": ports, "selector": labels}),
    )


def render_nudge(source: LoadedResource, _library: Library, options: Options, _findings: Findings) -> Rendered:
    nudge = source.resource
    assert isinstance(nudge, Nudge)
    namespace = nudge.metadata.namespace or options.namespace
    spec = nudge.spec
    api = "leaderworkerset.x-k8s.io/v1" if spec.workload_kind == "LeaderWorkerSet" else "apps/v1"
    metric = {
        "type": "Pods",
        "pods": {"metric": {"name": spec.metric}, "target": {"type": "AverageValue", "averageValue": spec.per_pod}},
    }
    hpa = new_object(
        "autoscaling/v2",
        HPA,
        source.name,
        namespace,
        {
            "scaleTargetRef": {"apiVersion": api, "kind": spec.workload_kind, "name": spec.workload},
            "minReplicas": 1,
            "maxReplicas": spec.most,
            "metrics": [metric],
        },
    )

    def blame(path: str) -> Origin:
        fields = {"scaleTargetRef": "workload", "metrics[0].pods.target.averageValue": "perPod"}
        return Origin(source, f"spec.{fields.get(path, 'metric')}")

    return Rendered(source, "Nudge", source.name, namespace, autoscalers=(Autoscaler(hpa, blame),))

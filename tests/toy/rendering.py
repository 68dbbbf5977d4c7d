"""What a Pair and a Nudge become."""

from decimal import Decimal

from components.contract.findings.collector import Findings
from components.contract.load import Loaded
from components.fleet.autoscalers import Autoscaler
from components.fleet.demand import NodeChoice, NodeField, PodDemand
from components.fleet.endpoints import Backend, Endpoint, WeightsOwner
from components.fleet.library import Library
from components.fleet.objects import HPA, Object, new_object
from components.fleet.options import Options
from components.fleet.origins import Origin
from components.fleet.placement import place
from components.fleet.rendered import Rendered
from components.fleet.serving import server_of
from components.fleet.workloads import Workload

from .types import Nudge, Pair, PairSpec

PORT = 8000


def render_pair(source: Loaded, _library: Library, options: Options, findings: Findings) -> Rendered:
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


def _workload(source: Loaded, spec: PairSpec, stage: str, name: str, namespace: str, replicas: int) -> Workload:
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
    place(pod, (choice,))
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


def _endpoint(source: Loaded, workload: Workload, stage: str) -> Endpoint:
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


def render_nudge(source: Loaded, _library: Library, options: Options, _findings: Findings) -> Rendered:
    nudge = source.resource
    assert isinstance(nudge, Nudge)
    namespace = nudge.metadata.namespace or options.namespace
    spec = nudge.spec
    api = "apps/v1" if spec.workload_kind == "Deployment" else "leaderworkerset.x-k8s.io/v1"
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

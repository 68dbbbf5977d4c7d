"""A family whose workloads are StatefulSets: a Shelf keeps weights in a claim of each pod."""

from decimal import Decimal
from typing import ClassVar, Literal

from pydantic import Field

from components.contract.base import ApiModel, PositiveInt32, Rule, ScaleReplicas
from components.contract.findings.collector import Findings
from components.contract.kinds import Kind
from components.contract.load import LoadedResource
from components.contract.meta import Resource
from components.contract.rules import OBJECT_NAME
from components.families.family import Family, Member
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
from components.fleet.shapes import STATEFUL_SET
from components.fleet.workloads import Workload

PORT = 8000
_WAITING: Object = {
    "type": "Pods",
    "pods": {
        "metric": {"name": "vllm:num_requests_waiting"},
        "target": {"type": "AverageValue", "averageValue": "4"},
    },
}


class ShelfSpec(ApiModel):
    """One model whose pods have names and volumes of their own."""

    weights: str
    machine: str
    image: str = "vllm/vllm-openai:v0.20.0"
    replicas: ScaleReplicas = 1
    most: PositiveInt32 | None = None
    gib: PositiveInt32 = 50
    parallel: bool = False
    exposed: bool = True
    flags: list[str] = Field(default_factory=list)


class Shelf(Resource):
    """A StatefulSet, its headless Service, and with ``exposed`` a Service for clients."""

    api_version: Literal["shelf.example/v1"]
    kind: Literal["Shelf"]
    spec: ShelfSpec

    rules: ClassVar[tuple[Rule, ...]] = (OBJECT_NAME,)


def render(source: LoadedResource, _library: Library, options: Options, _findings: Findings) -> Rendered:
    shelf = source.resource
    assert isinstance(shelf, Shelf)
    spec, name = shelf.spec, source.name
    namespace = shelf.metadata.namespace or options.namespace
    labels = {"shelf.example/name": name}
    workload = _workload(source, spec, namespace, labels)
    headless: Object = {"clusterIP": "None", "selector": labels, "ports": [{"name": "http", "port": PORT}]}
    return Rendered(
        source,
        "Shelf",
        name,
        namespace,
        workloads=(workload,),
        endpoints=(_endpoint(source, workload, namespace),) if spec.exposed else (),
        autoscalers=(_autoscaler(source, spec, namespace),) if spec.most else (),
        others=(new_object("v1", "Service", f"{name}-pods", namespace, headless),),
        model=spec.weights,
    )


def _workload(source: LoadedResource, spec: ShelfSpec, namespace: str, labels: dict[str, str]) -> Workload:
    container: Object = {
        "name": "server",
        "image": spec.image,
        "args": [spec.weights, "--port", str(PORT), *spec.flags],
        "ports": [{"name": "http", "containerPort": PORT}],
        "resources": {"limits": {"nvidia.com/gpu": 1}},
        "volumeMounts": [{"name": "weights", "mountPath": "/weights"}],
        "readinessProbe": {"httpGet": {"path": "/health", "port": PORT}},
    }
    pod: Object = {"containers": [container]}
    field = NodeField(Origin(source, "spec.machine"), "machine")
    choice = NodeChoice("machine", spec.machine, chosen_by=field)
    assign_nodes(pod, (choice,))
    claim = {
        "metadata": {"name": "weights"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": f"{spec.gib}Gi"}}},
    }
    body: Object = {
        **({} if spec.most else {"replicas": spec.replicas}),
        **({"podManagementPolicy": "Parallel"} if spec.parallel else {}),
        "serviceName": f"{source.name}-pods",
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": pod},
        "volumeClaimTemplates": [claim],
    }
    demand = PodDemand(spec.replicas, {"nvidia.com/gpu": Decimal(1)}, (choice,), max_pods=spec.most)
    return Workload(
        body=new_object(STATEFUL_SET.api_version, STATEFUL_SET.kind, source.name, namespace, body),
        server=server_of([container], source, "spec.flags"),
        port=PORT,
        replicas=spec.replicas,
        pods=(demand,),
        model=spec.weights,
        origin=Origin(source, "spec"),
        most=spec.most,
    )


def _endpoint(source: LoadedResource, workload: Workload, namespace: str) -> Endpoint:
    name = source.name
    ports = [{"name": "http", "port": 80, "targetPort": PORT, "protocol": "TCP"}]
    return Endpoint(
        name=name,
        namespace=namespace,
        model=workload.model,
        url=f"http://{name}-lb.{namespace}.svc.cluster.local:80/v1",
        api="openai",
        port=80,
        backends=(Backend(f"{name}-lb", namespace, 80, name, workload.replicas),),
        weights=WeightsOwner("Shelf", namespace, name),
        origin=Origin(source),
        body=new_object("v1", "Service", f"{name}-lb", namespace, {"ports": ports, "selector": workload.selector}),
    )


def _autoscaler(source: LoadedResource, spec: ShelfSpec, namespace: str) -> Autoscaler:
    scaling: Object = {
        "scaleTargetRef": STATEFUL_SET.target(source.name),
        "minReplicas": spec.replicas,
        "maxReplicas": spec.most,
        "metrics": [_WAITING],
    }
    hpa = new_object("autoscaling/v2", HPA, source.name, namespace, scaling)
    return Autoscaler(hpa, lambda _: Origin(source, "spec.most"))


class LadderSpec(ApiModel):
    """Which workload to scale, of whatever family."""

    target_kind: str
    target: str
    most: PositiveInt32


class Ladder(Resource):
    """An autoscaler for the workload of another resource."""

    api_version: Literal["shelf.example/v1"]
    kind: Literal["Ladder"]
    spec: LadderSpec


def render_ladder(source: LoadedResource, _library: Library, options: Options, _findings: Findings) -> Rendered:
    ladder = source.resource
    assert isinstance(ladder, Ladder)
    namespace = ladder.metadata.namespace or options.namespace
    asked = ladder.spec
    scaling: Object = {
        "scaleTargetRef": {"apiVersion": "apps/v1", "kind": asked.target_kind, "name": asked.target},
        "minReplicas": 1,
        "maxReplicas": asked.most,
        "metrics": [_WAITING],
    }
    hpa = new_object("autoscaling/v2", HPA, source.name, namespace, scaling)
    scaler = Autoscaler(hpa, lambda _: Origin(source, "spec.target"))
    return Rendered(source, "Ladder", source.name, namespace, autoscalers=(scaler,))


FAMILY = Family(
    name="shelf",
    package="tests.fleet",
    members=(
        Member(Kind("shelf.example/v1", "Shelf", Shelf, "shelves", namespaced=True), render, serves=True),
        Member(Kind("shelf.example/v1", "Ladder", Ladder, "ladders", namespaced=True), render_ladder),
    ),
)


def shelf(name: str = "books", **spec: object) -> Object:
    """A Shelf as somebody writes it."""
    return {
        "apiVersion": "shelf.example/v1",
        "kind": "Shelf",
        "metadata": {"name": name},
        "spec": {"weights": "Qwen/Qwen2.5-1.5B-Instruct", "machine": "g5.2xlarge", **spec},
    }


def ladder(target: str, most: int, kind: str = "StatefulSet") -> Object:
    """A Ladder as somebody writes it."""
    return {
        "apiVersion": "shelf.example/v1",
        "kind": "Ladder",
        "metadata": {"name": f"to-{target}"},
        "spec": {"targetKind": kind, "target": target, "most": most},
    }

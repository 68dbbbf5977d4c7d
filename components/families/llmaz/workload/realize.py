"""A Service of llmaz becomes a workload, a core Service and perhaps an autoscaler (llmaz spec 2.6, 2.8)."""

from dataclasses import dataclass, replace

from ....contract.findings.collector import Findings
from ....contract.load import LoadedResource
from ....engines.paths import path_prefix
from ....engines.settings import Setting
from ....fleet.autoscalers import Autoscaler
from ....fleet.endpoints import Backend, Endpoint, WeightsOwner
from ....fleet.objects import Object, new_object
from ....fleet.options import Options
from ....fleet.origins import Origin
from ....fleet.serving import declared_port, server_of
from ....fleet.shapes import DEPLOYMENT, LEADER_WORKER_SET
from ....fleet.workloads import Server, SpreadField, Workload
from ..backend import PORT
from ..loaders import RUNNER
from ..metric_flags import turn_on_metrics
from ..models import named_weights, served_name
from .asked import Asked
from .bodies import deployment, leader_worker_set, workload_shape
from .pods import finish_template, label
from .scaling import autoscaler, demand_of


@dataclass(frozen=True, slots=True)
class Realized:
    """A workload made of Kubernetes objects."""

    workload: Workload
    endpoint: Endpoint
    autoscaler: Autoscaler | None
    requires: frozenset[str]


def realize(source: LoadedResource, asked: Asked, options: Options, findings: Findings) -> Realized:
    """Return the workload, its endpoint, and what moves its replicas.

    The operator makes LeaderWorkerSets alone, and autoscalers and Services by itself: what it makes is told as well.
    """
    operated = not options.realization.is_native
    metrics = asked.scaling.trigger.metrics if asked.scaling else None
    server = turn_on_metrics(asked.front, _server(source, asked), metrics, options, findings)
    _probe_under_prefix(asked, server)
    for template in asked.templates.values():
        finish_template(template, asked, options, findings)
    label(asked.front, asked.claim)
    shape = LEADER_WORKER_SET if operated else workload_shape(asked, options, findings)
    port = declared_port(asked.front["spec"]["containers"][server.position], server.line) or PORT
    body, selector = deployment(asked) if shape is DEPLOYMENT else leader_worker_set(asked)
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
    endpoint = _endpoint(source, asked, server)
    if not operated:
        endpoint = replace(endpoint, body=_balancer(asked, endpoint.service, selector, port))
    return Realized(workload, endpoint, autoscaler(source, asked, shape, operated=operated), shape.requires)


def _server(source: LoadedResource, asked: Asked) -> Server:
    """Return the container that serves; a Playground says which engine it runs, whatever a mirror calls the image."""
    if asked.line is None:
        path = f"spec.workloadTemplate.{asked.front_part}.spec.containers"
        server = server_of(asked.front["spec"]["containers"], source, path, preferred=RUNNER)
        return replace(server, weights=named_weights(asked.claim))
    args = Origin(source, "spec.backendRuntimeConfig.args")
    # Params beside a flag that is there already would contradict it.
    by_flag = asked.line.holds(Setting.TENSOR_PARALLEL) and asked.parallelism.tensor is None
    spread = None if by_flag else SpreadField("add params: {TP: '{tensor}'}", is_whole=True)
    return Server(0, asked.line, args, Origin(source, "spec"), weights=named_weights(asked.claim), spread=spread)


def _probe_under_prefix(asked: Asked, server: Server) -> None:
    """Let a backend's probes follow a prefix that a Playground gives its server; hand-written ones are left alone."""
    prefix = path_prefix(server.line)
    if not prefix or asked.line is None:
        return
    container = asked.front["spec"]["containers"][server.position]
    for name in ("startupProbe", "livenessProbe", "readinessProbe"):
        probe: Object = container.get(name) or {}
        path = probe.get("httpGet", {}).get("path")
        if path and not path.startswith(f"{prefix}/"):
            container[name] = {**probe, "httpGet": {**probe["httpGet"], "path": prefix + path}}


def _endpoint(source: LoadedResource, asked: Asked, server: Server) -> Endpoint:
    """Return where the ``-lb`` Service answers; every shipped engine speaks the OpenAI API under ``/v1``."""
    service = f"{asked.name}-lb"
    model = asked.claim.main.metadata.name
    return Endpoint(
        name=asked.name,
        namespace=asked.namespace,
        model=served_name(asked.claim.main),
        url=f"http://{service}.{asked.namespace}.svc.cluster.local:{PORT}{path_prefix(server.line)}/v1",
        api="openai",
        port=PORT,
        backends=(Backend(service, asked.namespace, PORT, asked.name, asked.replicas),),
        weights=WeightsOwner("OpenModel", "", model),
        origin=Origin(source),
    )


def _balancer(asked: Asked, name: str, selector: dict[str, str], port: int) -> Object:
    ports = [{"name": "http", "port": PORT, "protocol": "TCP", "targetPort": port}]
    return new_object("v1", "Service", name, asked.namespace, {"ports": ports, "selector": selector})

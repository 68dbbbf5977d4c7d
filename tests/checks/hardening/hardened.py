"""Resources of every shape, and what hardening makes of their pods."""

from typing import Any

import kubernetes_validate  # type: ignore[import-untyped]

from components.checks.hardening.settings import Hardening
from components.checks.hardening.words import PodSecurity, Priority
from components.checks.hardening.workloads import harden
from components.fleet.rendered import Rendered
from tests.fleets import GPU, fleet_of, open_model, playground, runner, service

Object = dict[str, Any]
RESTRICTED = Hardening(PodSecurity.RESTRICTED)
ALL = Hardening(PodSecurity.RESTRICTED, disruption_budgets=True, topology_spread=True, priority=Priority.STANDARD)
TWO_NODES = [{"name": "two", "limits": {"nvidia.com/gpu": 1}, "params": {"TP": "1", "PP": "2"}}]
CPU = {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}}
ELASTIC = {
    "elasticConfig": {
        "minReplicas": 1,
        "maxReplicas": 3,
        "scaleTrigger": {"hpa": {"metrics": [{"type": "Resource", "resource": CPU}]}},
    }
}


def rendered(*documents: Object, **options: Any) -> Rendered:
    """The only resource that serves."""
    (item,) = fleet_of(*documents, **options).rendered
    return item


def model(backend: str = "llamacpp", **options: Any) -> Rendered:
    spec = options.pop("spec", {})
    wanted = playground(backendRuntimeConfig={"backendName": backend}, **spec)
    return rendered(open_model(flavors=[GPU]), wanted, **options)


def written(spec: Object | None = None, **container: Any) -> Rendered:
    """A Service whose author wrote the template; llama.cpp's image unless told otherwise."""
    image = container.pop("image", "ghcr.io/ggml-org/llama.cpp:server-b6500")
    template = {"workerTemplate": {"spec": {"containers": [runner(image=image, **container)], **(spec or {})}}}
    return rendered(open_model(source="host:///models"), service(workloadTemplate=template))


def hardened(item: Rendered, options: Hardening = RESTRICTED) -> Object:
    """The pod spec after hardening; everything made is a valid object."""
    made = harden(item, options).objects
    for body in made:
        if body["kind"] != "LeaderWorkerSet":
            kubernetes_validate.validate(body, "1.36", strict=True)
    spec: Object = made[0]["spec"]["template"]["spec"]
    return spec


def engine(spec: Object) -> Object:
    (found,) = spec["containers"]
    context: Object = found["securityContext"]
    return context


def kinds(item: Rendered) -> list[str]:
    return [body["kind"] for body in item.objects]

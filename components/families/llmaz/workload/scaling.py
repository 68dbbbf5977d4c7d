"""Replicas: how many pods there are at rest and at most, and what moves their number (llmaz spec 2.8)."""

from ....contract.load import LoadedResource
from ....fleet.autoscalers import Autoscaler
from ....fleet.demand import PodDemand
from ....fleet.objects import HPA, Object, new_object
from ....fleet.options import Options
from ....fleet.origins import Origin
from ....fleet.placement import requests_of
from ....fleet.shapes import WorkloadShape, group_update
from ..flavors import node_choices, unflavored
from .asked import Asked


def demand_of(asked: Asked, options: Options) -> tuple[PodDemand, ...]:
    """Return the pods at rest and what each of them asks for."""
    choices = node_choices(asked.claim.flavors, options.alternatives, asked.claim.chosen_by)
    most = asked.scaling.most if asked.scaling else None
    surge = group_update(asked.rollout).added(asked.replicas if most is None else most)
    node_field = unflavored(asked.claim.chosen_by)

    def demand(template: Object, pods: int) -> PodDemand:
        requests = requests_of(template["spec"])
        at_most = most if most is None else most * pods
        return PodDemand(asked.replicas * pods, requests, choices, at_most, surge * pods, pods, node_field)

    leader, worker = asked.template.get("leaderTemplate"), asked.template["workerTemplate"]
    if leader is None:
        return (demand(worker, asked.size),)
    return (demand(leader, 1), *((demand(worker, asked.size - 1),) if asked.size > 1 else ()))


def autoscaler(source: LoadedResource, asked: Asked, shape: WorkloadShape, *, operated: bool) -> Autoscaler | None:
    """Return what moves the replicas of a workload; None where nothing does."""
    scaling = asked.scaling
    if scaling is None:
        return None
    spec: Object = {
        "scaleTargetRef": shape.target(asked.name),
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

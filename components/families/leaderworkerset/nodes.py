"""What nodes the pods of a hand-written LeaderWorkerSet need: nothing but their templates says so."""

from ...contract.load import LoadedResource
from ...fleet.demand import NodeChoice, NodeField, PodDemand, instance_type_in
from ...fleet.objects import Object
from ...fleet.origins import Origin
from ...fleet.placement import requests_of
from ...fleet.shapes import LEADER_WORKER_SET

TEMPLATE = "spec.leaderWorkerTemplate"


def pods_of(body: Object, source: LoadedResource) -> tuple[PodDemand, ...]:
    """Return the pods at rest, leaders first, and what each of them asks for."""
    replicas: int = body["spec"].get("replicas", 1)
    surge = LEADER_WORKER_SET.update_of(body).added(replicas)
    found = []
    for template in LEADER_WORKER_SET.pod_templates(body):
        field, pods = NodeField(Origin(source, f"{template.field.path}.spec.nodeSelector")), template.pods
        if pods:
            found.append(_demand(template.body["spec"], field, replicas * pods, surge * pods, pods))
    return tuple(found)


def _demand(pod: Object, field: NodeField, pods: int, surge: int, per_replica: int) -> PodDemand:
    selector = {str(key): str(value) for key, value in sorted((pod.get("nodeSelector") or {}).items())}
    others = {key: value for key, value in selector.items() if key != field.type_name}
    choice = NodeChoice("nodeSelector", instance_type_in(selector), others, chosen_by=field)
    choices = (choice,) if selector else ()
    return PodDemand(pods, requests_of(pod), choices, None, surge, per_replica, field)

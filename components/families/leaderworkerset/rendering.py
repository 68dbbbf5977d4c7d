"""Render a hand-written LeaderWorkerSet, which is a Kubernetes object already and is passed through unchanged."""

from ...contract.findings.collector import Findings
from ...contract.load import LoadedResource
from ...fleet.demand import NodeChoice, NodeField, PodDemand, instance_type_in
from ...fleet.library import Library
from ...fleet.objects import Object
from ...fleet.options import Options
from ...fleet.origins import Origin
from ...fleet.placement import requests_of
from ...fleet.rendered import Rendered
from ...fleet.serving import as_manifest, check_containers, require_containers, server_of
from ...fleet.shapes import LEADER_WORKER_SET
from ...fleet.workloads import Workload
from .rules import topology_violations

TEMPLATE = "spec.leaderWorkerTemplate"


def render(source: LoadedResource, _library: Library, options: Options, findings: Findings) -> Rendered:
    """Return the object unchanged, with its pods as a workload that metrics and hardening can use.

    Raises:
        Unrenderable: a template has no containers; it is in ``findings``.
    """
    body = as_manifest(source, options)
    template = body["spec"]["leaderWorkerTemplate"]
    require_containers(template, TEMPLATE, findings)
    for path, reason in topology_violations(body["metadata"].get("annotations") or {}, template):
        findings.error(path, reason)
    check_containers(template, TEMPLATE, findings)
    front = LEADER_WORKER_SET.pod_templates(body)[0]
    server = server_of(front.body["spec"]["containers"], source, f"{front.field.path}.spec.containers")
    workload = Workload(
        body=body,
        server=server,
        port=0,
        replicas=body["spec"].get("replicas", 1),
        pods=_pod_demands(body, source),
        model=source.name,
        origin=Origin(source),
    )
    return Rendered(
        source,
        source.kind.kind,
        source.name,
        body["metadata"]["namespace"],
        workloads=(workload,),
        requires=LEADER_WORKER_SET.requires,
    )


def _pod_demands(body: Object, source: LoadedResource) -> tuple[PodDemand, ...]:
    """Return the pods at rest, leaders first; their nodes follow from the templates alone."""
    replicas: int = body["spec"].get("replicas", 1)
    surge = LEADER_WORKER_SET.update_of(body).added(replicas)
    demands = []
    for template in LEADER_WORKER_SET.pod_templates(body):
        if not template.pods:
            continue
        pod = template.body["spec"]
        field = NodeField(Origin(source, f"{template.field.path}.spec.nodeSelector"))
        selector = {str(key): str(value) for key, value in sorted((pod.get("nodeSelector") or {}).items())}
        labels = {key: value for key, value in selector.items() if key != field.type_name}
        choice = NodeChoice("nodeSelector", instance_type_in(selector), labels, chosen_by=field)
        demands.append(
            PodDemand(
                replicas * template.pods,
                requests_of(pod),
                (choice,) if selector else (),
                None,
                surge * template.pods,
                template.pods,
                field,
            )
        )
    return tuple(demands)

"""Hand-written workloads: the node demand of their pods, which follows from their templates alone."""

from .demand import NodeChoice, NodeField, PodDemand, instance_type_in
from .objects import Object
from .origins import Origin, ProblemSource
from .placement import requests_of
from .shapes import WorkloadShape


def pod_demands(body: Object, shape: WorkloadShape, source: ProblemSource) -> tuple[PodDemand, ...]:
    """Return the pods of a workload at rest, leaders of groups first.

    Args:
        body: The workload.
        shape: The shape of its kind.
        source: The resource with the templates.
    """
    replicas: int = body["spec"].get("replicas", 1)
    surge = shape.update_of(body).added(replicas)
    demands = []
    for template in shape.pod_templates(body):
        if not template.pods:
            continue
        pod = template.body["spec"]
        field = NodeField(Origin(source, f"{template.field.path}.spec.nodeSelector"))
        selector = {str(key): str(value) for key, value in sorted((pod.get("nodeSelector") or {}).items())}
        labels = {key: value for key, value in selector.items() if key != field.type_name}
        choice = NodeChoice("nodeSelector", instance_type_in(selector), labels, chosen_by=field)
        demands.append(
            PodDemand(
                pods=replicas * template.pods,
                requests=requests_of(pod),
                choices=(choice,) if selector else (),
                max_pods=None,
                surge_pods=surge * template.pods,
                per_replica=template.pods,
                node_field=field,
            )
        )
    return tuple(demands)

"""Where a model answers: the Services that select its pods, and the addresses that its resource reports."""

from collections.abc import Iterator, Mapping, Sequence

from components.fleet.objects import Object, tcp_ports
from components.fleet.rendered import Rendered
from components.fleet.shapes import shape_of

from .describing import row_of, value_at
from .recognition import Serving
from .snapshot import ClusterSnapshot, identity_of

_POOLS = ("inference.networking.k8s.io", "inference.networking.x-k8s.io")


def endpoints_of(serving: Serving, snapshot: ClusterSnapshot, items: Sequence[Rendered]) -> Iterator[str]:
    """Yield the addresses of a model; those of Services are inside the cluster.

    Args:
        serving: The resource that serves it.
        snapshot: All objects.
        items: What the resource is rendered to.
    """
    row = row_of(serving.resource)
    url = value_at(serving.resource, row.get("url", "")) if row else None
    if isinstance(url, str) and url:
        yield url
    labels = [*_pod_labels(serving)]
    namespace = serving.identity[2]
    services = [
        service
        for service in snapshot.of_kind("", "Service", namespace)
        if any(_selects(value_at(service, "spec.selector"), own) for own in labels)
    ]
    # Headless Services give pods their names; they are an address only without another one.
    balanced = [service for service in services if value_at(service, "spec.clusterIP") != "None"] or services
    has_address = False
    for service in balanced:
        for port in tcp_ports(service.get("spec") or {})[:1]:
            has_address = True
            yield f"http://{service['metadata']['name']}.{namespace}.svc.cluster.local:{port}"
    for group in _POOLS:
        for pool in snapshot.of_kind(group, "InferencePool", namespace):
            selector = value_at(pool, "spec.selector.matchLabels") or value_at(pool, "spec.selector")
            if any(_selects(selector, own) for own in labels):
                has_address = True
                yield f"InferencePool {namespace}/{identity_of(pool)[3]}"
    created = row.get("service") if row else None
    if created and not has_address and not url:
        # The Service that the operator of the resource creates.
        port = value_at(serving.resource, created["port"]) if isinstance(created["port"], str) else created["port"]
        if isinstance(port, int):
            has_address = True
            name = f"{serving.identity[3]}{created.get('suffix', '')}"
            yield f"http://{name}.{namespace}.svc.cluster.local:{port}"
    if not has_address and not url:
        # An endpoint with a body is a Service that a stack would create, and no operator.
        yield from (endpoint.url for item in items for endpoint in item.endpoints if not endpoint.body)


def labels_of_pods(workload: Object) -> Iterator[dict[str, str]]:
    """Yield the labels of the pods of a workload, those that a controller adds to their templates included."""
    shape = shape_of(workload)
    if shape is None:
        return
    # A Service of a LeaderWorkerSet selects its leader by labels that no template has.
    added = {} if shape.has_selector else shape.labels_of(workload)[0]
    for template in shape.pod_templates(workload):
        yield {**((template.body.get("metadata") or {}).get("labels") or {}), **added}


def _pod_labels(serving: Serving) -> Iterator[Mapping[str, str]]:
    for body in serving.workloads:
        yield from labels_of_pods(body)
    if not serving.workloads:
        yield from ((pod["metadata"].get("labels") or {}) for pod in serving.pods)


def _selects(selector: object, labels: Mapping[str, str]) -> bool:
    """Return whether a selector matches labels; an empty one selects nothing here."""
    if not isinstance(selector, dict) or not selector:
        return False
    return all(labels.get(key) == value for key, value in selector.items())

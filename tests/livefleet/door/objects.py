"""Objects of a door with plain routes."""

from typing import Any

Object = dict[str, Any]
GATEWAY_API = "gateway.networking.k8s.io"
NAMESPACE = "models"


def gateway(namespace: str = NAMESPACE) -> list[Object]:
    """A class, and a gateway of it with one listener."""
    return [
        {
            "apiVersion": f"{GATEWAY_API}/v1",
            "kind": "GatewayClass",
            "metadata": {"name": "eg"},
            "spec": {"controllerName": "gateway.envoyproxy.io/gatewayclass-controller"},
        },
        {
            "apiVersion": f"{GATEWAY_API}/v1",
            "kind": "Gateway",
            "metadata": {"name": "eg", "namespace": namespace},
            "spec": {"gatewayClassName": "eg", "listeners": [{"name": "http", "protocol": "HTTP", "port": 80}]},
        },
    ]


def route(*references: Object, name: str = "m", path: str = "/", namespace: str = NAMESPACE) -> Object:
    rule = {"matches": [{"path": {"type": "PathPrefix", "value": path}}], "backendRefs": list(references)}
    return {
        "apiVersion": f"{GATEWAY_API}/v1",
        "kind": "HTTPRoute",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"parentRefs": [{"name": "eg"}], "rules": [rule]},
    }


def backend(name: str, port: int = 80, namespace: str = NAMESPACE) -> Object:
    fqdn = {"hostname": f"{name}.{namespace}.svc.cluster.local", "port": port}
    return {
        "apiVersion": "gateway.envoyproxy.io/v1alpha1",
        "kind": "Backend",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"endpoints": [{"fqdn": fqdn}]},
    }


def to_backend(name: str) -> Object:
    return {"group": "gateway.envoyproxy.io", "kind": "Backend", "name": name}

"""Kubernetes objects as plain data, and what every room needs to know about one."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

Object = dict[str, Any]
"""A Kubernetes object, or a part of one, in wire form."""
Key = tuple[str, str, str]
"""Kind, namespace and name of an object."""

HPA = "HorizontalPodAutoscaler"
LWS_LABEL = "leaderworkerset.sigs.k8s.io"
BALANCED = ("loadBalancer.ingress[0].hostname", "loadBalancer.ingress[0].ip")
"""Where the status of a Service has the address of its load balancer: AWS gives names, others numbers."""
_STEP = re.compile(r"[^.\[\]]+")


def new_object(api_version: str, kind: str, name: str, namespace: str, spec: Object) -> Object:
    """Return a namespaced object of a name and a spec."""
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name, "namespace": namespace}, "spec": spec}


def copied(value: Any) -> Any:  # noqa: ANN401  JSON in, JSON out
    """Return plain data that shares no map and no list with what it was; ``copy.deepcopy`` takes far longer."""
    if isinstance(value, dict):
        return {key: copied(inner) if isinstance(inner, (dict, list)) else inner for key, inner in value.items()}
    return [copied(inner) for inner in value] if isinstance(value, list) else value


def key_of(body: Mapping[str, Any]) -> Key:
    """Return what identifies an object."""
    metadata = body["metadata"]
    return body["kind"], metadata.get("namespace", ""), metadata["name"]


def is_core_service(body: Mapping[str, Any]) -> bool:
    """Tell whether an object is a core Service; other API groups have a kind with that name too."""
    return (body["apiVersion"], body["kind"]) == ("v1", "Service")


def tcp_ports(spec: Mapping[str, Any]) -> list[int]:
    """Return the TCP ports of the spec of a Service."""
    return [port["port"] for port in spec.get("ports") or () if port.get("protocol", "TCP") == "TCP"]


def is_balanced(body: Mapping[str, Any]) -> bool:
    """Tell whether an object is a core Service of type LoadBalancer."""
    return is_core_service(body) and body["spec"].get("type") == "LoadBalancer"


def address_in(status: Mapping[str, Any] | None, fields: Iterable[str]) -> str | None:
    """Return the first of some fields of a status that is there; None as long as there is none."""
    return next((found for found in (_at(status, field) for field in fields) if found), None)


def _at(status: object, field: str) -> Any:  # noqa: ANN401 - any JSON
    found: Any = status
    for step in _STEP.findall(field):
        try:
            found = found[int(step) if step.isdecimal() else step]
        except (KeyError, IndexError, TypeError):
            return None
    return found

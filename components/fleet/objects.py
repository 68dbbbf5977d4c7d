"""Kubernetes objects as plain data, and accessors that every layer needs."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

Object = dict[str, Any]
"""A Kubernetes object, or part of one, in wire form."""
Key = tuple[str, str, str]
"""Kind, namespace and name of an object."""

HPA = "HorizontalPodAutoscaler"
LWS_LABEL = "leaderworkerset.sigs.k8s.io"
BALANCED = ("loadBalancer.ingress[0].hostname", "loadBalancer.ingress[0].ip")
"""Status fields with the address of a Service's load balancer: AWS reports a host name, other clouds an IP."""
_STEP = re.compile(r"[^.\[\]]+")


def new_object(api_version: str, kind: str, name: str, namespace: str, spec: Object) -> Object:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name, "namespace": namespace}, "spec": spec}


def copied(value: Any) -> Any:  # noqa: ANN401  JSON in, JSON out
    """Copy plain JSON data; much faster than ``copy.deepcopy``."""
    if isinstance(value, dict):
        return {key: copied(inner) if isinstance(inner, (dict, list)) else inner for key, inner in value.items()}
    return [copied(inner) for inner in value] if isinstance(value, list) else value


def key_of(body: Mapping[str, Any]) -> Key:
    metadata = body["metadata"]
    return body["kind"], metadata.get("namespace", ""), metadata["name"]


def is_core_service(body: Mapping[str, Any]) -> bool:
    """Return whether an object is a core Service; other API groups have a kind of this name as well."""
    return (body["apiVersion"], body["kind"]) == ("v1", "Service")


def tcp_ports(spec: Mapping[str, Any]) -> list[int]:
    return [port["port"] for port in spec.get("ports") or () if port.get("protocol", "TCP") == "TCP"]


def is_balanced(body: Mapping[str, Any]) -> bool:
    return is_core_service(body) and body["spec"].get("type") == "LoadBalancer"


def address_in(status: Mapping[str, Any] | None, fields: Iterable[str]) -> str | None:
    """Return the value of the first of the status fields that is set; None until one is."""
    for field in fields:
        value: Any = status
        try:
            for step in _STEP.findall(field):
                value = value[int(step) if step.isdecimal() else step]
        except (KeyError, IndexError, TypeError):
            continue
        if value:
            return str(value)
    return None

"""Names and labels that Kthena uses (Kthena spec 2.1, 3.1, 3.2)."""

OPERATOR = "kthena"
"""Chart of the controllers."""

WORKLOAD_GROUP = "workload.serving.volcano.sh"
WORKLOAD_API = f"{WORKLOAD_GROUP}/v1alpha1"
NETWORKING_API = "networking.serving.volcano.sh/v1alpha1"
SERVING_LABEL = "modelserving.volcano.sh"
"""Prefix of the labels of a ModelServing's pods: name, group-name, role, role-id, entry."""

VOLCANO = "volcano"
"""Chart of the scheduler for gangs."""
ROUTER = "kthena-router"
"""Chart of the router for disaggregated prefill and decode."""
CONTROLLER_NAMESPACE = "kthena-system"
"""Namespace of the controllers and the router; the autoscaler only sees bindings in this namespace (D-14)."""
ROUTER_SERVICE = f"networking-{ROUTER}"
"""The router's Service until v0.1.0; it does not depend on the release name of the chart."""
ROUTER_PORT = 80
ROUTER_HOST = f"{ROUTER_SERVICE}.{CONTROLLER_NAMESPACE}.svc"
ROUTER_PODS = {"app.kubernetes.io/component": ROUTER, "app.kubernetes.io/name": "networking"}
"""Labels of the router's pods."""


def backend_name(booster: str, backend: str) -> str:
    """Return the name of a backend's ModelServing, ModelServer, policy and binding."""
    return f"{booster}-{backend}"


def group_name(serving: str, group: int) -> str:
    """Return the name of a serving group, and of its PodGroup."""
    return f"{serving}-{group}"


def role_id(role: str, instance: int) -> str:
    """Return the identifier of a role instance, which is unique in its serving group."""
    return f"{role}-{instance}"


def instance_name(serving: str, group: int, role: str, instance: int) -> str:
    """Return the name of the LeaderWorkerSet of a role instance."""
    return f"{group_name(serving, group)}-{role_id(role, instance)}"


def entry_name(serving: str, group: int, role: str, instance: int) -> str:
    """Return the name of the entry pod of a role instance, and of its headless Service."""
    return f"{instance_name(serving, group, role, instance)}-0"


def role_service(serving: str, role: str) -> str:
    """Return the name of the Service for the entry pods of a role."""
    return f"{serving}-{role}"


def serving_labels(serving: str) -> dict[str, str]:
    """Return the labels of all pods of a ModelServing."""
    return {f"{SERVING_LABEL}/name": serving}


def role_labels(serving: str, role: str) -> dict[str, str]:
    """Return the labels of all pods of a role."""
    return {**serving_labels(serving), f"{SERVING_LABEL}/role": role}


def entry_labels(serving: str, role: str) -> dict[str, str]:
    """Return the labels of the entry pods of a role, which receive the requests."""
    return {**role_labels(serving, role), f"{SERVING_LABEL}/entry": "true"}


def instance_labels(serving: str, group: int, role: str, instance: int) -> dict[str, str]:
    """Return the labels that only the pods of one role instance have."""
    return {
        f"{SERVING_LABEL}/group-name": group_name(serving, group),
        f"{SERVING_LABEL}/role-id": role_id(role, instance),
    }

"""Services of a ModelServing: one over the entry pods of each role, and the names of role instances."""

from collections.abc import Iterator

from ....fleet.objects import Object, new_object
from ..names import entry_labels, entry_name, instance_labels, role_labels, role_service
from .asked import AskedServing
from .groups import is_one_set
from .roles import RolePods, ports_in

_PORT = "http"


def client_service(asked: AskedServing, role: RolePods) -> Object:
    """Return what takes requests for the entry pods of a role, whichever group and instance they are of."""
    ports = [
        {"name": f"port-{number}" if position else _PORT, "port": number, "protocol": "TCP", "targetPort": number}
        for position, number in enumerate(ports_in(role.role, role.port))
    ]
    spec = {"ports": ports, "selector": entry_labels(asked.name, role.name)}
    body = new_object("v1", "Service", role_service(asked.name, role.name), asked.namespace, spec)
    body["metadata"]["labels"] = role_labels(asked.name, role.name)
    return body


def instance_services(asked: AskedServing, roles: list[RolePods]) -> Iterator[Object]:
    """Yield what gives the entry pod of each role instance the name that Kthena's controller gives it.

    There is one wherever there is a template of workers, even of none: so other roles can be told the name.
    """
    if is_one_set(asked.group):
        return
    for group in range(asked.replicas):
        for role in (role for role in roles if role.role.worker_template is not None):
            yield from (_instance(asked, role.name, group, instance) for instance in range(role.role.replicas))


def _instance(asked: AskedServing, role: str, group: int, instance: int) -> Object:
    own = instance_labels(asked.name, group, role, instance)
    spec = {
        "clusterIP": "None",
        "publishNotReadyAddresses": True,
        "selector": {**entry_labels(asked.name, role), **own},
    }
    body = new_object("v1", "Service", entry_name(asked.name, group, role, instance), asked.namespace, spec)
    body["metadata"]["labels"] = {**role_labels(asked.name, role), **own}
    return body

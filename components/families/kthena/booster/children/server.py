"""The ModelServer of a backend (Kthena spec 2.6)."""

from collections.abc import Sequence

from .....engines.pairs.reading import transfer_of
from .....fleet.objects import Object, new_object
from ...names import NETWORKING_API, SERVING_LABEL
from ..setup import Part, RoleOf
from .command import Commands
from .labels import labels_of, metadata_of, selector_of
from .serving import DECODE, PREFILL

_ATTEMPTS = 5
_CONNECTORS = ("http", "lmcache", "nixl", "mooncake")


def server_of(part: Part, roles: Sequence[tuple[RoleOf, Commands]]) -> Object:
    """Return the ModelServer of a backend: its pods and no other backend's (D-01)."""
    front = roles[-1][1]
    selector: Object = {"matchLabels": selector_of(part.namespace, part.model, part.backend.name)}
    if part.is_disaggregated:
        selector["pdGroup"] = {
            "groupKey": f"{SERVING_LABEL}/group-name",
            "prefillLabels": {f"{SERVING_LABEL}/role": PREFILL},
            "decodeLabels": {f"{SERVING_LABEL}/role": DECODE},
        }
    spec: Object = {
        "model": front.served,
        "inferenceEngine": part.started.serves,
        "workloadSelector": selector,
        "workloadPort": {"port": front.port},
        "trafficPolicy": {"retry": {"attempts": _ATTEMPTS, "retryInterval": "0s"}},
    }
    if part.is_disaggregated:
        connector = next(filter(None, (_connector(commands) for _, commands in reversed(roles))), "")
        spec |= {"kvConnector": {"type": connector}} if connector else {}
    body = new_object(NETWORKING_API, "ModelServer", part.name, part.namespace, spec)
    labels = labels_of(part.model, part.namespace, part.backend.name)
    return {**body, "metadata": metadata_of(part.name, part.namespace, labels, spec)}


def _connector(commands: Commands) -> str:
    """Return what the router must speak for the cache to get from prefill to decode; empty for what it speaks anyway.

    A word that Kthena's router does not know is left out here: what it cannot speak is reported where the pair is
    rendered.
    """
    transfer = transfer_of(commands.entry)
    word = transfer.router if transfer else ""
    return word if word in _CONNECTORS else ""

"""The claims of an environment: one of each in every namespace of models, bound to a volume of its own."""

from collections.abc import Iterable

from ..fleet.objects import Object, new_object
from ..fleet.options import BoundClaim


def claim_objects(claims: Iterable[BoundClaim], namespaces: Iterable[str]) -> tuple[Object, ...]:
    """Return the claims of some namespaces.

    The volume is named, and no class, so that nothing else is bound to it and nobody provisions another (Kubernetes,
    "Reserving a PersistentVolume").
    """
    wanted = tuple(claims)
    return tuple(_claim(claim, namespace) for namespace in namespaces for claim in wanted)


def _claim(claim: BoundClaim, namespace: str) -> Object:
    spec = {
        "accessModes": claim.access_modes,
        "resources": {"requests": {"storage": claim.SIZE}},
        "storageClassName": "",
        "volumeName": claim.volume(namespace),
    }
    return new_object("v1", "PersistentVolumeClaim", claim.name, namespace, spec)

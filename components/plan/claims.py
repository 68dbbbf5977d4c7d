"""PersistentVolumeClaims of an environment: one per namespace of models, each bound to a volume of its own."""

from collections.abc import Iterable

from ..fleet.objects import Object, new_object
from ..fleet.options import BoundClaim


def claim_objects(claims: Iterable[BoundClaim], namespaces: Iterable[str]) -> tuple[Object, ...]:
    claims = tuple(claims)
    objects = []
    for namespace in namespaces:
        for claim in claims:
            spec = {
                "accessModes": claim.access_modes,
                "resources": {"requests": {"storage": claim.SIZE}},
                # An empty class and the volume's name prevent dynamic provisioning and other bindings (Kubernetes,
                # "Reserving a PersistentVolume").
                "storageClassName": "",
                "volumeName": claim.volume(namespace),
            }
            objects.append(new_object("v1", "PersistentVolumeClaim", claim.name, namespace, spec))
    return tuple(objects)

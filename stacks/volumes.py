"""Whether the claims of a stack's volumes can be met."""

from collections.abc import Iterator

from components.api.problems import Problem
from components.render.types import Fleet

from .settings import Settings

DRIVER = "aws-ebs-csi-driver"


def check_volumes(fleet: Fleet, settings: Settings) -> Iterator[Problem]:
    """Report claims that nobody meets in a cluster made here: they and their pods would wait for ever."""
    if settings.cloud != "aws" or settings.cluster.existing or DRIVER in settings.cluster.addons:
        return
    claims = [
        f"{body['kind']}/{body['metadata']['name']} in namespace {item.namespace}"
        for item in fleet.rendered
        for body in item.objects
        if body["kind"] == "PersistentVolumeClaim"
    ]
    if settings.prerequisites.install and settings.prerequisites.storage_gib:
        claims.append("Prometheus (prerequisites.storageGib)")
    if claims:
        reason = f'{", ".join(claims)} needs a volume, and nobody makes any; add {DRIVER}: ""'
        yield Problem(settings.file, 0, "", "", "cluster.addons", reason)

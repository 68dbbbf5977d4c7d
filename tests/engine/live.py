"""Programs for a cluster, and what is left there."""

from collections.abc import Callable

import pulumi

from tests.engine.support import Stack, config_map, kube_object, register
from toolkit.kube import Kube, KubeError


def gone(kube: Kube, kind: str, name: str, namespace: str | None = None) -> bool:
    try:
        kube.get("v1", kind, name, namespace)
    except KubeError as error:
        return error.status == 404
    return False


def maps(live: Stack, namespace: str, **values: str) -> Callable[[], None]:
    """A namespace and one ConfigMap for each value."""

    def program() -> None:
        provider = live.provider()
        space = register(
            kube_object("v1", "Namespace", namespace), pulumi.ResourceOptions(provider=provider), "space"
        )
        for name, value in values.items():
            opts = pulumi.ResourceOptions(provider=provider, depends_on=[space])
            config_map(name, opts, namespace, value=value)
        pulumi.export("names", sorted(values))

    return program

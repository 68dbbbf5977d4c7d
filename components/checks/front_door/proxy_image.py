"""The image repository of the gateway's proxies, which Envoy Gateway sets by default."""

from collections.abc import Callable, Iterable

from ...fleet.objects import Object, copied
from .gateway import ENVOY_API

PROXY_IMAGE = "docker.io/envoyproxy/envoy"
"""Repository of the image (envoyproxy/gateway v1.9.0, api/v1alpha1/shared_types.go: DefaultEnvoyProxyImage)."""


def with_proxy_image(objects: Iterable[Object], reference: Callable[[str], str]) -> tuple[Object, ...]:
    """Set the image repository of the proxies, if it differs from the default.

    The tag stays Envoy Gateway's own (same file, KubernetesContainerSpec.ImageRepository: "The default tag will be
    used").

    Args:
        objects: Objects of the gateway.
        reference: Returns the reference by which an image is pulled.
    """
    repository = reference(PROXY_IMAGE)
    if repository == PROXY_IMAGE:
        return tuple(objects)
    changed = []
    for body in objects:
        if body["kind"] == "EnvoyProxy" and str(body["apiVersion"]).startswith(f"{ENVOY_API}/"):
            body = copied(body)
            kubernetes = body["spec"].setdefault("provider", {"type": "Kubernetes"}).setdefault("kubernetes", {})
            container = kubernetes.setdefault("envoyDeployment", {}).setdefault("container", {})
            if "image" not in container:
                container["imageRepository"] = repository
        changed.append(body)
    return tuple(changed)

"""The image of the gateway's proxies, by way of a mirror."""

from typing import Any

from components.checks.front_door.proxy_image import PROXY_IMAGE, with_proxy_image


def proxies(**container: Any) -> dict[str, Any]:
    kubernetes = {"envoyDeployment": {"replicas": 2, **({"container": container} if container else {})}}
    spec = {"provider": {"type": "Kubernetes", "kubernetes": kubernetes}}
    return {"apiVersion": "gateway.envoyproxy.io/v1alpha1", "kind": "EnvoyProxy", "spec": spec}


GATEWAY = {"apiVersion": "gateway.networking.k8s.io/v1", "kind": "Gateway", "spec": {}}


def test_the_repository_is_the_mirrors_and_the_tag_envoy_gateways_own() -> None:
    (changed, gateway) = with_proxy_image([proxies(), GATEWAY], lambda image: f"mirror/{image}")
    assert gateway is GATEWAY
    deployment = changed["spec"]["provider"]["kubernetes"]["envoyDeployment"]
    assert deployment == {"replicas": 2, "container": {"imageRepository": f"mirror/{PROXY_IMAGE}"}}


def test_an_image_that_is_named_stays() -> None:
    """Envoy Gateway takes either of the two."""
    (same,) = with_proxy_image([proxies(image="mine:1")], lambda image: f"mirror/{image}")
    assert same == proxies(image="mine:1")


def test_without_a_mirror_nothing_changes() -> None:
    body = proxies()
    assert with_proxy_image([body], lambda image: image)[0] is body

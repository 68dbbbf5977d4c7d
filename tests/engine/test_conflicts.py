"""What `up` takes from other managers is named, with what would set it again."""

from typing import Any

import pulumi
import pytest

from tests.engine.live import maps
from tests.engine.support import Stack, kube_object, register
from toolkit.kube import Kube

ARGO = {"argocd.argoproj.io/instance": "llm"}
FLUX = {"kustomize.toolkit.fluxcd.io/name": "models"}


def applied_by(kube: Kube, namespace: str, manager: str, value: str, labels: dict[str, str]) -> None:
    body = kube_object("v1", "ConfigMap", "a", namespace, data={"value": value}, metadata={"labels": labels})
    kube.server_side_apply(body, manager=manager)


@pytest.mark.parametrize(
    ("manager", "labels", "named"),
    [
        ("kubectl-edit", {}, ()),
        ("argocd-controller", ARGO, ("Argo CD (llm) applies it too", "selfHeal")),
        ("kustomize-controller", FLUX, ("Flux (models) applies it too", "reconcile=disabled")),
        ("HashiCorp", {}, ("Terraform applies it too", "terraform state rm")),
        ("keda-operator", {}, ("from keda-operator, a controller, which may set it again",)),
    ],
)
def test_an_update_names_whose_field_it_takes(
    live: Stack, kube: Kube, namespace: str, manager: str, labels: dict[str, str], named: tuple[str, ...]
) -> None:
    live.up(maps(live, namespace, a="1", b="1"))
    applied_by(kube, namespace, manager, "2", labels)
    assert live.up(maps(live, namespace, a="3", b="2")).ok
    assert f"note: ConfigMap {namespace}/a: took data.value over from {manager}" in live.words
    assert all(words in live.words for words in named)
    assert f"{namespace}/b: took" not in live.words
    assert ("applies it too" in live.words) == any("applies it too" in words for words in named)
    live.destroy()


def test_equal_values_are_no_conflict(live: Stack, kube: Kube, namespace: str) -> None:
    live.up(maps(live, namespace, a="1"))
    applied_by(kube, namespace, "argocd-controller", "2", ARGO)
    assert live.up(maps(live, namespace, a="2")).ok
    assert "took" not in live.screen
    live.destroy()


def test_an_import_that_would_change_a_field_names_its_manager(live: Stack, kube: Kube, namespace: str) -> None:
    kube.request("POST", "/api/v1/namespaces", body=kube_object("v1", "Namespace", namespace))
    applied_by(kube, namespace, "argocd-controller", "2", ARGO)

    def program() -> Any:
        opts = pulumi.ResourceOptions(provider=live.provider(), import_=f"{namespace}/a")
        register(kube_object("v1", "ConfigMap", "a", namespace, data={"value": "1"}), opts)

    live.preview(program)
    assert f"note: ConfigMap {namespace}/a: took data.value over from argocd-controller" in live.words
    assert "Argo CD (llm) applies it too" in live.words
    assert kube.get("v1", "ConfigMap", "a", namespace)["data"] == {"value": "2"}
    kube.delete("v1", "Namespace", namespace)

"""Other programs that apply an object, by what they leave on it."""

from typing import Any

import pytest

from components.fleet.objects import Object
from tests.inspecting.objects import deployment, live
from workbench.engine.apply.conflicts import writers_in
from workbench.inspecting.recognition import owner_of
from workbench.inspecting.writers import writers_of


def written(
    labels: dict[str, str] | None = None, annotations: dict[str, str] | None = None, managers: tuple[str, ...] = ()
) -> Object:
    """Return a Deployment that kubectl has edited since."""
    body = live(deployment("a"))
    body["metadata"] |= {"labels": labels or {}, "annotations": annotations or {}}
    fields: dict[str, Any] = {"operation": "Update", "fieldsV1": {"f:spec": {}}}
    body["metadata"]["managedFields"] += [
        {"manager": manager, "time": "2026-10-01T10:00:00Z", **fields} for manager in managers
    ]
    return body


WRITERS = [
    ("Helm (chat)", written(annotations={"meta.helm.sh/release-name": "chat"})),
    ("Argo CD (llm)", written({"argocd.argoproj.io/instance": "llm"})),
    ("Argo CD", written(annotations={"argocd.argoproj.io/tracking-id": "llm:apps/Deployment:m/a"})),
    ("Argo CD", written(managers=("argocd-controller",))),
    ("Flux (models)", written({"kustomize.toolkit.fluxcd.io/name": "models"})),
    ("Flux", written({"helm.toolkit.fluxcd.io/name": "models"})),
    ("Terraform", written(managers=("HashiCorp",))),
    ("Terraform", written(managers=("Terraform",))),
    ("Rancher Fleet (default-llm)", written(annotations={"objectset.rio.cattle.io/id": "default-llm"})),
    ("Config Sync", written(annotations={"configmanagement.gke.io/managed": "enabled"})),
    ("Kustomize", written({"app.kubernetes.io/managed-by": "kustomize-v5.4.1"})),
    ("another Pulumi stack", written(managers=("pulumi-kubernetes-9f2c1a",))),
]
NONE = [
    written(),
    written({"app.kubernetes.io/managed-by": "someone"}, {"configmanagement.gke.io/managed": "disabled"}),
    written(managers=("kube-controller-manager", "k9s")),
]


@pytest.mark.parametrize(("title", "body"), WRITERS)
def test_a_writer_is_named_after_kubectl_was_used_on_top(title: str, body: Object) -> None:
    (found,) = writers_of(body)
    assert found.title == title
    assert found.end
    assert found.ignore


@pytest.mark.parametrize("body", NONE)
def test_nobody_else_applies_it(body: Object) -> None:
    assert [*writers_of(body)] == []


def test_the_owner_of_a_model_is_who_goes_on_to_apply_it() -> None:
    assert owner_of(written({"kustomize.toolkit.fluxcd.io/name": "models"})).text == "written by Flux (models)"
    assert owner_of(written()).kind == "hand"


@pytest.mark.parametrize(
    ("text", "named"),
    [
        # As Pulumi's Kubernetes provider repeats the API server's words.
        ('Apply failed with 1 conflict: conflict with "argocd-controller" using apps/v1: .spec.replicas', "Argo CD"),
        ('conflict with "kustomize-controller" using v1: .data.a', "Flux"),
        ('conflict with "kubectl-edit" using v1: .data.a', ""),
        ("argocd-controller is not ready", ""),
    ],
)
def test_the_writers_in_an_error_are_named(text: str, named: str) -> None:
    lines = writers_in(text)
    assert len(lines) == bool(named)
    assert all(line.startswith(f"{named} applies it too, and would undo changes: ") for line in lines)

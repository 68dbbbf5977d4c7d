"""Imports of the local engine: objects that exist already are taken over, and otherwise left as they are."""

from collections.abc import Callable, Iterator
from typing import Any

import pulumi
import pytest

from tests.cluster.waiting import eventually
from tests.engine.live import gone
from tests.engine.support import Stack, kube_object, register
from toolkit.kube import Kube
from workbench.engine.local import RunOptions
from workbench.errors import WorkbenchError

CLIENT_SIDE = "kubectl-client-side-apply"


def workload(namespace: str, image: str = "registry.example/x:1", **variables: str) -> dict[str, Any]:
    env = [{"name": name, "value": value} for name, value in variables.items()]
    container = {"name": "c", "image": image, **({"env": env} if env else {})}
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [container]}}
    spec = {"replicas": 0, "selector": {"matchLabels": {"app": "web"}}, "template": template}
    return kube_object("apps/v1", "Deployment", "web", namespace, spec=spec)


@pytest.fixture
def existing(kube: Kube, namespace: str) -> Iterator[str]:
    """A namespace with a Deployment that kubectl created."""
    kube.request("POST", "/api/v1/namespaces", body=kube_object("v1", "Namespace", namespace))
    path = f"/apis/apps/v1/namespaces/{namespace}/deployments"
    kube.request("POST", path, params={"fieldManager": CLIENT_SIDE}, body=workload(namespace, A="1", B="2"))
    yield namespace
    kube.delete("v1", "Namespace", namespace)


def program(
    live: Stack, namespace: str, image: str = "registry.example/x:1", retain: bool | None = None, **variables: str
) -> Callable[[], None]:
    def run() -> None:
        provider = live.provider()
        space = register(
            kube_object("v1", "Namespace", namespace),
            pulumi.ResourceOptions(provider=provider, import_=namespace, retain_on_delete=retain),
            "space",
        )
        opts = pulumi.ResourceOptions(
            provider=provider, import_=f"{namespace}/web", depends_on=[space], retain_on_delete=retain
        )
        register(workload(namespace, image, **variables), opts)

    return run


def deployed(kube: Kube, namespace: str) -> dict[str, Any]:
    return kube.get("apps/v1", "Deployment", "web", namespace)


def gone_deployment(kube: Kube, namespace: str) -> bool:
    return not [body for body in kube.list("apps/v1", "Deployment", namespace) if body["metadata"]["name"] == "web"]


def managers(obj: dict[str, Any]) -> list[str]:
    return [entry["manager"] for entry in obj["metadata"]["managedFields"] if not entry.get("subresource")]


def test_an_import_leaves_the_object_as_it_is_and_takes_its_fields(live: Stack, kube: Kube, existing: str) -> None:
    before = deployed(kube, existing)
    preview = live.preview(program(live, existing, A="1", B="2"))
    assert " 2 to import" in live.screen
    assert "to create" in live.screen  # the provider, which is no object
    assert preview.changed == 3
    assert live.rows() == {}

    assert live.up(program(live, existing, A="1", B="2")).ok
    after = deployed(kube, existing)
    assert " 2 imported" in live.screen
    for path in ("uid", "generation"):
        assert after["metadata"][path] == before["metadata"][path]
    assert after["spec"] == before["spec"]
    again = live.up(program(live, existing, A="1", B="2"))
    assert again.changed == 0

    # A variable that leaves the program leaves the cluster, although kubectl once set it.
    assert live.up(program(live, existing, A="1")).ok
    (container,) = deployed(kube, existing)["spec"]["template"]["spec"]["containers"]
    assert container["env"] == [{"name": "A", "value": "1"}]


def test_what_the_program_does_not_declare_stays_with_its_former_manager(
    live: Stack, kube: Kube, existing: str
) -> None:
    live.up(program(live, existing, A="1"))
    assert CLIENT_SIDE in managers(deployed(kube, existing))
    (container,) = deployed(kube, existing)["spec"]["template"]["spec"]["containers"]
    assert {variable["name"] for variable in container["env"]} == {"A", "B"}


def test_a_difference_is_shown_before_the_import(live: Stack, kube: Kube, existing: str) -> None:
    live.preview(program(live, existing, image="registry.example/x:2", A="1", B="2"))
    assert 'image: "registry.example/x:1" => "registry.example/x:2"' in live.screen
    assert deployed(kube, existing)["spec"]["template"]["spec"]["containers"][0]["image"] == "registry.example/x:1"


@pytest.mark.parametrize("retain", [True, None])
def test_retained_imports_survive_a_destroy(live: Stack, kube: Kube, existing: str, retain: bool | None) -> None:
    uid = deployed(kube, existing)["metadata"]["uid"]
    live.up(program(live, existing, retain=retain, A="1", B="2"))
    live.destroy()
    assert live.rows() == {}
    if retain:
        assert deployed(kube, existing)["metadata"]["uid"] == uid
    else:
        assert gone(kube, "Namespace", existing)


def test_an_import_of_nothing_is_an_error(live: Stack, namespace: str) -> None:
    with pytest.raises(WorkbenchError, match=r"Namespace eng-\S+ does not exist, so that it cannot be imported"):
        live.up(program(live, namespace))
    assert live.rows() == {}


def test_an_import_that_would_replace_is_an_error(live: Stack, kube: Kube, existing: str) -> None:
    def run() -> None:
        value = workload(existing, A="1", B="2")
        value["spec"]["selector"] = {"matchLabels": {"app": "other"}}
        value["spec"]["template"]["metadata"]["labels"] = {"app": "other"}
        register(value, pulumi.ResourceOptions(provider=live.provider(), import_=f"{existing}/web"))

    with pytest.raises(WorkbenchError, match=r"cannot be imported as it is declared: .*immutable"):
        live.up(run)
    assert deployed(kube, existing)["spec"]["selector"] == {"matchLabels": {"app": "web"}}


def test_an_import_under_another_name_is_refused(offline: Stack) -> None:
    def run() -> None:
        opts = pulumi.ResourceOptions(provider=offline.provider(), import_="models/other")
        register(workload("models"), opts)

    with pytest.raises(WorkbenchError, match="imports 'models/other', but declares 'models/web'"):
        offline.preview(run)


def test_an_import_that_was_deleted_later_is_created(live: Stack, kube: Kube, existing: str) -> None:
    live.up(program(live, existing, A="1", B="2"))
    kube.delete("apps/v1", "Deployment", "web", existing)
    eventually(lambda: gone_deployment(kube, existing), "deletion")
    live.up(program(live, existing, A="1", B="2"))
    assert "deleted outside" in live.screen
    assert deployed(kube, existing)["metadata"]["name"] == "web"


def test_an_offline_preview_shows_the_import(offline: Stack) -> None:
    offline.options = RunOptions(offline=True)
    offline.preview(program(offline, "models"))
    assert " 2 to import" in offline.screen
    assert "not compared with the cluster" in offline.screen

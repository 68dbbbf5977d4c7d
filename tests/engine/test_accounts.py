"""A service account that leaves the program leaves the pods, which a plain apply does not do (kubernetes#72519)."""

from collections.abc import Callable
from typing import Any

import pulumi

from tests.engine.support import Stack, kube_object, register
from toolkit.kube import Kube
from workbench.drifting.drift import ABSENT, differences_of
from workbench.drifting.reading import server_view
from workbench.drifting.restoring import restore_object
from workbench.engine.apply.objects import MANAGER


def workload(namespace: str, **pod: Any) -> dict[str, Any]:
    container = {"name": "c", "image": "registry.example/x:1"}
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [container], **pod}}
    spec = {"replicas": 0, "selector": {"matchLabels": {"app": "web"}}, "template": template}
    return kube_object("apps/v1", "Deployment", "web", namespace, spec=spec)


def program(live: Stack, namespace: str, **pod: Any) -> Callable[[], None]:
    def run() -> None:
        provider = live.provider()
        space = kube_object("v1", "Namespace", namespace)
        before = register(space, pulumi.ResourceOptions(provider=provider), "space")
        register(workload(namespace, **pod), pulumi.ResourceOptions(provider=provider, depends_on=[before]))

    return run


def accounts(body: dict[str, Any]) -> dict[str, str]:
    pod = body["spec"]["template"]["spec"]
    return {field: pod[field] for field in ("serviceAccountName", "serviceAccount") if field in pod}


def deployed(kube: Kube, namespace: str) -> dict[str, Any]:
    return kube.get("apps/v1", "Deployment", "web", namespace)


def test_an_update_removes_it_at_once(live: Stack, kube: Kube, namespace: str) -> None:
    live.up(program(live, namespace, serviceAccountName="a"))
    before = deployed(kube, namespace)
    assert accounts(before) == {"serviceAccountName": "a", "serviceAccount": "a"}
    assert live.up(program(live, namespace, hostNetwork=True)).ok
    after = deployed(kube, namespace)
    assert accounts(after) == {}
    assert after["metadata"]["generation"] == before["metadata"]["generation"] + 1
    assert live.up(program(live, namespace, hostNetwork=True)).changed == 0
    live.up(program(live, namespace, serviceAccountName="b"))
    assert accounts(deployed(kube, namespace)) == {"serviceAccountName": "b", "serviceAccount": "b"}
    live.destroy()


def test_one_that_an_apply_has_left_is_a_difference_that_a_restoration_removes(kube: Kube, namespace: str) -> None:
    kube.request("POST", "/api/v1/namespaces", body=kube_object("v1", "Namespace", namespace))
    declared = workload(namespace, serviceAccountName="a")
    kube.apply(declared, manager=MANAGER)
    live = deployed(kube, namespace)
    assert differences_of(declared, live, server_view(kube, declared, live)) == ()

    without = workload(namespace)
    kube.apply(without, manager=MANAGER)
    live = deployed(kube, namespace)
    assert accounts(live) == {"serviceAccountName": "a", "serviceAccount": "a"}
    (found,) = differences_of(without, live, server_view(kube, without, live))
    assert (found.path, found.planned, found.live) == ("spec.template.spec.serviceAccountName", ABSENT, "a")

    restore_object(kube, without, live, scaled=False)
    live = deployed(kube, namespace)
    assert accounts(live) == {}
    assert differences_of(without, live, server_view(kube, without, live)) == ()
    kube.delete("v1", "Namespace", namespace)

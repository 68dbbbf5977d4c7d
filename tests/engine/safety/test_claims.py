"""Claims that pods mount, on a real API server: no change of one may leave the stack waiting for ever."""

import time
from collections.abc import Callable, Iterator

import pulumi
import pytest

from tests.engine.support import Stack, kube_object, register
from toolkit.kube import Kube

POD = {"tolerations": [{"operator": "Exists"}], "nodeSelector": {"tests/claims": "true"}}


@pytest.fixture(scope="module")
def namespace(kube: Kube) -> Iterator[str]:
    """A namespace of these tests, and one node that kwok plays."""
    name = "eng-claims"
    kube.create(kube_object("v1", "Namespace", name))
    resources = {"cpu": "8", "memory": "32Gi", "pods": "50"}
    meta = {"labels": {"tests/claims": "true"}, "annotations": {"kwok.x-k8s.io/node": "fake"}}
    body = kube_object("v1", "Node", name, metadata=meta, status={"allocatable": resources, "capacity": resources})
    kube.create(body)
    yield name
    kube.delete("v1", "Namespace", name)
    kube.delete("v1", "Node", name)


def program(stack: Stack, namespace: str, claim: str = "cache", mode: str = "ReadWriteOnce") -> Callable[[], None]:
    """A claim, and a Deployment whose pods mount it."""

    def run() -> None:
        provider = stack.provider()
        spec = {"accessModes": [mode], "resources": {"requests": {"storage": "1Gi"}}}
        made = register(
            kube_object("v1", "PersistentVolumeClaim", claim, namespace, spec=spec),
            pulumi.ResourceOptions(provider=provider),
            "claim",
        )
        volume = {"name": "v", "persistentVolumeClaim": {"claimName": claim}}
        pods = {**POD, "containers": [{"name": "c", "image": "registry.example/x:1"}], "volumes": [volume]}
        template = {"metadata": {"labels": {"app": "web"}}, "spec": pods}
        spec = {"selector": {"matchLabels": {"app": "web"}}, "template": template}
        register(
            kube_object("apps/v1", "Deployment", "web", namespace, spec=spec),
            pulumi.ResourceOptions(provider=provider, depends_on=[made]),
        )

    return run


@pytest.mark.parametrize("change", [{"claim": "cache-2"}, {"mode": "ReadWriteMany"}], ids=["renamed", "same name"])
def test_a_claim_in_use_is_replaced(live: Stack, kube: Kube, namespace: str, change: dict[str, str]) -> None:
    """Under another name it is made first; under the same name the pods that hold it are ended and made again."""
    live.up(program(live, namespace))
    started = time.monotonic()
    outcome = live.up(program(live, namespace, **change))

    assert outcome.ok, live.screen
    assert time.monotonic() - started < 100  # not the two minutes after which a claim that stays is an error
    claims = kube.list("v1", "PersistentVolumeClaim", namespace)
    found = [(claim["metadata"]["name"], claim["spec"]["accessModes"]) for claim in claims]
    assert found == [(change.get("claim", "cache"), [change.get("mode", "ReadWriteOnce")])]
    assert live.up(program(live, namespace, **change)).changed == 0
    live.destroy()
    assert live.rows() == {}


def test_a_claim_on_its_way_out_is_made_again(live: Stack, kube: Kube, namespace: str) -> None:
    """Somebody deleted it while pods mount it; the API server keeps it until they end."""
    live.up(program(live, namespace))
    kube.delete("v1", "PersistentVolumeClaim", "cache", namespace)
    assert kube.get("v1", "PersistentVolumeClaim", "cache", namespace)["metadata"]["deletionTimestamp"]
    assert live.up(program(live, namespace)).ok, live.screen
    assert "deletionTimestamp" not in kube.get("v1", "PersistentVolumeClaim", "cache", namespace)["metadata"]
    live.destroy()


def test_a_pod_that_nothing_makes_again_is_not_ended(live: Stack, kube: Kube, namespace: str) -> None:
    live.up(program(live, namespace))
    volume = {"name": "v", "persistentVolumeClaim": {"claimName": "cache"}}
    pods = {**POD, "containers": [{"name": "c", "image": "registry.example/x:1"}], "volumes": [volume]}
    kube.create(kube_object("v1", "Pod", "by-hand", namespace, spec=pods))
    deadline = time.monotonic() + 20
    while not kube.get("v1", "Pod", "by-hand", namespace)["spec"].get("nodeName") and time.monotonic() < deadline:
        time.sleep(0.1)

    outcome = live.up(program(live, namespace, mode="ReadWriteMany"))
    assert not outcome.ok
    assert "pod by-hand mounts it and has no controller that would" in live.words
    claim = kube.get("v1", "PersistentVolumeClaim", "cache", namespace)
    assert "deletionTimestamp" not in claim["metadata"]
    kube.delete("v1", "Pod", "by-hand", namespace, propagation="Foreground")
    live.destroy()

"""Objects of other APIs on a real API server: tried strictly first, created as they are, secrets kept."""

import time
from collections.abc import Callable
from typing import Any

import pulumi
import pytest

from components.resources.serving.model_fleet import ModelFleet
from tests.engine.live import gone
from tests.engine.support import Stack, kube_object
from toolkit.kube import Kube
from workbench.engine.apply.objects import _PATIENCE
from workbench.errors import WorkbenchError


def passing(live: Stack, namespace: str, *documents: dict[str, Any]) -> Callable[[], None]:
    def program() -> None:
        args: Any = {"manifests": list(documents), "other_kinds": "apply", "namespace": namespace}
        ModelFleet("fleet", args, pulumi.ResourceOptions(providers=[live.provider()]))

    return program


def secret(**values: str) -> dict[str, Any]:
    return kube_object("v1", "Secret", "token", stringData=values)


def test_they_are_created_as_they_are_and_go_again(live: Stack, kube: Kube, namespace: str) -> None:
    own = kube_object("v1", "ConfigMap", "own", data={"a": "1"})
    program = passing(live, namespace, secret(t="hunter2"), own)
    live.preview(program)
    assert "hunter2" not in live.screen
    assert live.up(program).ok, live.screen
    assert kube.get("v1", "Secret", "token", namespace)["data"] == {"t": "aHVudGVyMg=="}
    assert kube.get("v1", "ConfigMap", "own", namespace)["data"] == {"a": "1"}
    assert "hunter2" not in live.screen
    assert not any(b"hunter2" in file.read_bytes() for file in (live.folder / "stacks").rglob("*") if file.is_file())
    live.up(program)
    assert ": no changes" in live.screen

    live.up(passing(live, namespace, secret(t="hunter3"), own))
    assert kube.get("v1", "Secret", "token", namespace)["data"] == {"t": "aHVudGVyMw=="}
    assert "hunter" not in live.screen
    live.up(passing(live, namespace, own))
    assert gone(kube, "Secret", "token", namespace)
    live.destroy()
    assert gone(kube, "Namespace", namespace)


@pytest.mark.parametrize("command", ["up", "preview"])
def test_a_strict_trial_comes_before_any_change(live: Stack, kube: Kube, namespace: str, command: str) -> None:
    live.up(passing(live, namespace, secret(t="hunter2")))
    wrong = kube_object("v1", "ConfigMap", "wrong", dat={"a": "1"})
    fine = kube_object("v1", "ConfigMap", "fine", data={"a": "1"})
    with pytest.raises(WorkbenchError) as refused:
        live.run(command, passing(live, namespace, secret(t="hunter2"), fine, wrong))
    text = str(refused.value)
    assert "nothing was changed" in text
    assert "ConfigMap::fleet-others-configmap-" in text
    assert "fleet-others-configmap-" + namespace + "/fine" not in text
    assert "dat: field not declared in schema" in text
    assert gone(kube, "ConfigMap", "fine", namespace)
    live.destroy()


def test_where_the_namespace_is_new_the_object_itself_is_refused(live: Stack, kube: Kube, namespace: str) -> None:
    """The API server compares values only once there is a namespace for the object."""
    outcome = live.up(passing(live, namespace, kube_object("v1", "Service", "wrong", spec={"ports": [{"port": 0}]})))
    assert [failure.urn.rsplit("::")[-1] for failure in outcome.failures] == [
        f"fleet-others-service-{namespace}/wrong"
    ]
    assert gone(kube, "Service", "wrong", namespace)
    live.destroy()


def definition(kind: str, group: str) -> dict[str, Any]:
    plural = f"{kind.lower()}s"
    schema = {"openAPIV3Schema": {"type": "object", "properties": {"spec": {"type": "object"}}}}
    spec = {
        "group": group,
        "names": {"kind": kind, "plural": plural, "singular": kind.lower(), "listKind": f"{kind}List"},
        "scope": "Namespaced",
        "versions": [{"name": "v1", "served": True, "storage": True, "schema": schema}],
    }
    return kube_object("apiextensions.k8s.io/v1", "CustomResourceDefinition", f"{plural}.{group}", spec=spec)


def test_a_kind_that_nobody_serves_is_refused_before_any_change(live: Stack, kube: Kube, namespace: str) -> None:
    route = kube_object("aigateway.example.com/v1", "AIGatewayRoute", "all", namespace)
    began = time.monotonic()
    with pytest.raises(WorkbenchError, match="serves no kind AIGatewayRoute"):
        live.up(passing(live, namespace, secret(t="hunter2"), route))
    assert time.monotonic() - began < _PATIENCE  # the time for which a kind is waited for that is to come
    assert gone(kube, "Namespace", namespace)


def test_a_namespace_that_nobody_creates_is_refused_before_any_change(live: Stack, namespace: str) -> None:
    with pytest.raises(WorkbenchError, match='namespaces "nowhere" not found'):
        live.up(passing(live, namespace, kube_object("v1", "ConfigMap", "own", "nowhere", data={})))


@pytest.mark.parametrize("spec", [None, [], {"names": []}, {"group": 1, "names": {}}])
def test_a_broken_definition_is_refused_like_anything_else(live: Stack, namespace: str, spec: Any) -> None:
    broken = {**definition("Gadget", f"{namespace}.example.com"), "spec": spec}
    gadget = kube_object(f"{namespace}.example.com/v1", "Gadget", "one", namespace)
    with pytest.raises(WorkbenchError, match="rejects passed-through objects"):
        live.up(passing(live, namespace, gadget, broken))


def test_a_kind_comes_before_the_objects_of_it(live: Stack, kube: Kube, namespace: str) -> None:
    group = f"{namespace}.example.com"
    gadget = kube_object(f"{group}/v1", "Gadget", "one", namespace, spec={})
    space = kube_object("v1", "Namespace", namespace)
    assert live.up(passing(live, namespace, gadget, space, definition("Gadget", group))).ok, live.screen
    assert kube.get(f"{group}/v1", "Gadget", "one", namespace)
    live.destroy()


def test_an_object_outlives_a_change_of_the_version_that_it_is_written_in(
    live: Stack, kube: Kube, namespace: str
) -> None:
    scaler = {
        "minReplicas": 1,
        "maxReplicas": 2,
        "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"},
    }
    kind = "HorizontalPodAutoscaler"
    assert live.up(passing(live, namespace, kube_object("autoscaling/v1", kind, "s", spec=scaler))).ok, live.screen
    uid = kube.get("autoscaling/v2", kind, "s", namespace)["metadata"]["uid"]
    again = live.up(passing(live, namespace, kube_object("autoscaling/v2", kind, "s", spec=scaler)))
    assert again.ok, live.screen
    assert kube.get("autoscaling/v2", kind, "s", namespace)["metadata"]["uid"] == uid
    live.destroy()


def test_what_is_rendered_is_not_tried_twice(live: Stack, namespace: str, monkeypatch: pytest.MonkeyPatch) -> None:
    tried = []
    put = Kube.server_side_apply

    def watched(self: Kube, obj: Any, **options: Any) -> Any:
        tried.append((obj["kind"], bool(options.get("dry_run"))))
        return put(self, obj, **options)

    monkeypatch.setattr(Kube, "server_side_apply", watched)
    live.up(passing(live, namespace, kube_object("v1", "ConfigMap", "own", data={"a": "1"})))
    assert ("ConfigMap", True) in tried
    assert ("Namespace", True) not in tried
    live.destroy()

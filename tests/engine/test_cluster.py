"""The engine against a real API server: what it creates, changes, replaces, deletes and leaves alone."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pulumi
import pytest

from tests.engine.live import gone, maps
from tests.engine.support import Stack, config_map, kube_object, register
from toolkit.kube import Kube
from workbench.engine.apply import ready
from workbench.engine.apply.ready import READY_SECONDS
from workbench.engine.local import RunOptions
from workbench.engine.pulumi_failures import unready
from workbench.errors import WorkbenchError


def test_create_same_update_delete_destroy(live: Stack, kube: Kube, namespace: str) -> None:
    first = live.up(maps(live, namespace, a="1", b="1"))
    uid = kube.get("v1", "ConfigMap", "a", namespace)["metadata"]["uid"]
    again = live.up(maps(live, namespace, a="1", b="1"))
    assert ": no changes" in live.screen
    changed = live.up(maps(live, namespace, a="2", c="1"))
    after = kube.get("v1", "ConfigMap", "a", namespace)

    assert (first.ok, first.changed, again.changed, changed.changed) == (True, 4, 0, 3)
    assert '~ data.value: "1" => "2"' in live.screen
    assert after["data"] == {"value": "2"}
    assert after["metadata"]["uid"] == uid
    assert gone(kube, "ConfigMap", "b", namespace)
    assert live.run("outputs") == {"names": ["a", "c"]}  # type: ignore[comparison-overlap]

    live.destroy()
    assert gone(kube, "Namespace", namespace)
    assert live.rows() == {}


def test_preview_touches_nothing(live: Stack, kube: Kube, namespace: str) -> None:
    outcome = live.preview(maps(live, namespace, a="1"))
    assert outcome.changed == 3
    assert gone(kube, "Namespace", namespace)
    assert live.rows() == {}


def test_what_was_deleted_by_hand_comes_back(live: Stack, kube: Kube, namespace: str) -> None:
    live.up(maps(live, namespace, a="1", b="1"))
    kube.delete("v1", "ConfigMap", "a", namespace)
    outcome = live.up(maps(live, namespace, a="1", b="1"))
    assert outcome.changed == 1
    assert "deleted outside" in live.screen
    assert not gone(kube, "ConfigMap", "a", namespace)
    live.destroy()


def deployment(name: str, namespace: str, label: str, **extra: Any) -> dict[str, Any]:
    template = {
        "metadata": {"labels": {"app": label}},
        "spec": {"containers": [{"name": "c", "image": "registry.example/x:1"}]},
    }
    spec = {"replicas": 0, "selector": {"matchLabels": {"app": label}}, "template": template, **extra}
    return kube_object("apps/v1", "Deployment", name, namespace, spec=spec)


def test_an_immutable_field_replaces_and_the_preview_says_so(live: Stack, kube: Kube, namespace: str) -> None:
    def program(label: str) -> Callable[[], None]:
        def run() -> None:
            opts = pulumi.ResourceOptions(provider=live.provider())
            space = register(kube_object("v1", "Namespace", namespace), opts, "space")
            register(
                deployment("web", namespace, label),
                pulumi.ResourceOptions(provider=opts.provider, depends_on=[space]),
            )

        return run

    live.up(program("one"))
    before = kube.get("apps/v1", "Deployment", "web", namespace)["metadata"]["uid"]
    live.preview(program("two"))
    assert " 1 to replace" in live.screen
    live.up(program("two"))
    after = kube.get("apps/v1", "Deployment", "web", namespace)
    assert " 1 replaced" in live.screen
    assert after["metadata"]["uid"] != before
    assert after["spec"]["selector"]["matchLabels"] == {"app": "two"}
    assert live.up(program("two")).changed == 0
    live.destroy()


@pytest.mark.parametrize(("message", "replaced"), [("field is immutable", True), ("must grow", False)])
def test_a_field_that_no_table_knows_is_replaced_when_the_server_calls_it_immutable(
    live: Stack, kube: Kube, namespace: str, message: str, replaced: bool
) -> None:
    group = f"{namespace}.immutable.example.com"

    def program(value: str) -> Callable[[], None]:
        def run() -> None:
            provider = live.provider()
            kinds = register(
                definition(f"things.{group}", message), pulumi.ResourceOptions(provider=provider), "kinds"
            )
            register(
                kube_object(f"{group}/v1", "Thing", "one", spec={"value": value}),
                pulumi.ResourceOptions(provider=provider, depends_on=[kinds]),
            )

        return run

    live.up(program("1"))
    outcome = live.up(program("2"))
    assert outcome.ok is replaced
    assert (" 1 replaced" in live.screen) is replaced
    assert (f": {message}" in live.screen) is not replaced
    live.destroy()
    assert live.rows() == {}


def definition(name: str, once: str | None = None) -> dict[str, Any]:
    plural, group = name.split(".", 1)
    value: dict[str, Any] = {"type": "string"}
    if once:
        value["x-kubernetes-validations"] = [{"rule": "self == oldSelf", "message": once}]
    schema = {
        "type": "object",
        "properties": {"spec": {"type": "object", "properties": {"value": value}}},
    }
    return kube_object(
        "apiextensions.k8s.io/v1",
        "CustomResourceDefinition",
        name,
        spec={
            "group": group,
            "scope": "Cluster",
            "names": {"plural": plural, "singular": "thing", "kind": "Thing"},
            "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}],
        },
    )


def test_a_definition_is_awaited_before_its_objects_even_without_depends_on(
    live: Stack, kube: Kube, namespace: str
) -> None:
    group = f"{namespace}.example.com"

    def program() -> None:
        provider = live.provider()
        for number in range(3):
            value = kube_object(f"{group}/v1", "Thing", f"t{number}", spec={"value": "x"})
            register(value, pulumi.ResourceOptions(provider=provider))
        register(definition(f"things.{group}"), pulumi.ResourceOptions(provider=provider), "kinds")

    assert live.up(program).ok
    assert len(kube.list(f"{group}/v1", "Thing")) == 3
    live.destroy()
    assert live.rows() == {}


def test_a_failure_names_the_field_and_skips_what_depends_on_it(live: Stack, kube: Kube, namespace: str) -> None:
    def program() -> None:
        provider = live.provider()
        wrong = kube_object("v1", "Service", "wrong", "default", spec={"ports": [{"port": 99999}]})
        failing = register(wrong, pulumi.ResourceOptions(provider=provider))
        config_map("after", pulumi.ResourceOptions(provider=provider, depends_on=[failing]), a="1")
        config_map("apart", pulumi.ResourceOptions(provider=provider), a="1")

    outcome = live.up(program)
    assert [failure.skipped for failure in outcome.failures] == [False, True]
    assert "spec.ports[0].port" in live.screen
    assert gone(kube, "ConfigMap", "after", "default")
    assert not gone(kube, "ConfigMap", "apart", "default")
    live.destroy()
    assert gone(kube, "ConfigMap", "apart", "default")


def test_each_object_goes_to_the_cluster_of_its_provider(live: Stack, kube: Kube) -> None:
    """Two providers of one cluster, told apart by their default namespace."""
    for name in ("prov-a", "prov-b"):
        kube.apply(kube_object("v1", "Namespace", name), manager="test")

    def program() -> None:
        for name in ("prov-a", "prov-b"):
            provider = live.provider(name, namespace=name)
            value = kube_object("v1", "ConfigMap", "same", data={"from": name})
            register(value, pulumi.ResourceOptions(provider=provider), name)

    live.up(program)
    found = {name: kube.get("v1", "ConfigMap", "same", name)["data"]["from"] for name in ("prov-a", "prov-b")}
    assert found == {"prov-a": "prov-a", "prov-b": "prov-b"}
    live.destroy()
    for name in ("prov-a", "prov-b"):
        kube.delete("v1", "Namespace", name)


def test_a_cluster_that_is_another_one_starts_empty(live: Stack, kube: Kube, namespace: str) -> None:
    from dataclasses import replace

    from workbench.engine.state import State

    live.up(maps(live, namespace, a="1"))
    with State(live.folder / "stacks", "dev") as state:
        state.write(replace(row, cluster="gone") for row in state.rows().values() if row.cluster)
    live.up(maps(live, namespace, a="1"))
    assert "now points to a different cluster" in live.screen
    assert "2 resources in the old cluster are forgotten" in live.words
    live.destroy()
    assert gone(kube, "Namespace", namespace), live.screen


def test_ready_means_available(live: Stack, kube: Kube, namespace: str) -> None:
    """No node can take the pod: the wait ends in time and quotes the scheduler."""
    live.options = RunOptions(seconds=5)

    def program() -> None:
        opts = pulumi.ResourceOptions(provider=live.provider())
        space = register(kube_object("v1", "Namespace", namespace), opts, "space")
        value = deployment("web", namespace, "a", replicas=1)
        value["spec"]["template"]["spec"]["nodeSelector"] = {"nowhere": "true"}
        register(value, pulumi.ResourceOptions(provider=opts.provider, depends_on=[space]))

    started = time.monotonic()
    outcome = live.up(program)
    assert not outcome.ok
    assert time.monotonic() - started < READY_SECONDS / 2
    assert "0 of 1 pods available" in live.words
    (line,) = [line for line in live.screen.splitlines() if "Unschedulable: " in line]
    assert "pod web-" in line
    assert "nodes" in line
    assert "next: " in live.screen
    # The same after a failed update of the Pulumi CLI, whose state has the Deployment.
    inputs = deployment("web", namespace, "a", replicas=1)
    exported = {"deployment": {"resources": [{"type": "kubernetes:apps/v1:Deployment", "inputs": inputs}]}}
    found = unready(exported, Path(live.kubeconfig))
    assert found[0] == f"Deployment {namespace}/web: 0 of 1 pods available"
    assert "Unschedulable: " in found[1]
    live.options = RunOptions()
    live.destroy()


def test_an_update_has_a_timeout_of_its_own(
    live: Stack, kube: Kube, namespace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As with the real engine (tests/real_engine/test_waiting.py): that of the creation is none for it."""
    monkeypatch.setattr(ready, "READY_SECONDS", 3)
    live.options = RunOptions()

    def program(replicas: int, **timeouts: str) -> None:
        opts = pulumi.ResourceOptions(provider=live.provider())
        space = register(kube_object("v1", "Namespace", namespace), opts, "space")
        value = deployment("web", namespace, "a", replicas=replicas)
        value["spec"]["template"]["spec"]["nodeSelector"] = {"nowhere": "true"}
        waiting = pulumi.CustomTimeouts(**timeouts)
        register(value, pulumi.ResourceOptions(provider=opts.provider, depends_on=[space], custom_timeouts=waiting))

    assert live.up(lambda: program(0)).ok
    assert not live.up(lambda: program(1, create="200s")).ok
    assert "not ready after 3 s" in live.words
    assert not live.up(lambda: program(2, create="200s", update="5s")).ok
    assert "not ready after 5 s" in live.words
    live.destroy()


def test_two_processes_do_not_work_on_one_stack(live: Stack) -> None:
    from workbench.engine.state import State

    with State(live.folder / "stacks", "dev"), pytest.raises(WorkbenchError, match="another process"):
        live.preview(lambda: None)

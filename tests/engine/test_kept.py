"""What the engine leaves alone: secrets, fields of others, and resources that are protected, retained or renamed."""

import json
from collections.abc import Callable

import pulumi
import pytest

from tests.engine.live import gone
from tests.engine.support import Stack, config_map, kube_object, register
from tests.engine.test_cluster import deployment
from toolkit.kube import Kube
from toolkit.kube.managed_fields import has_field, owned_fields
from workbench.engine.apply.objects import MANAGER
from workbench.engine.local import RunOptions
from workbench.errors import WorkbenchError


def test_secrets_are_neither_shown_nor_stored(live: Stack, kube: Kube, namespace: str) -> None:
    hidden = ["marked-Zq81", "kube-secret-Yp72"]

    def program(suffix: str) -> Callable[[], None]:
        def run() -> None:
            opts = pulumi.ResourceOptions(provider=live.provider())
            space = register(kube_object("v1", "Namespace", namespace), opts, "space")
            inside = pulumi.ResourceOptions(provider=opts.provider, depends_on=[space])
            config_map("cm", inside, namespace, token=pulumi.Output.secret(hidden[0] + suffix))
            value = kube_object("v1", "Secret", "plain", namespace, stringData={"k": hidden[1] + suffix})
            register(value, pulumi.ResourceOptions(provider=opts.provider, depends_on=[space]))
            pulumi.export("token", pulumi.Output.secret(hidden[0] + suffix))

        return run

    screens = []
    for suffix in ("", "", "-new"):
        outcome = live.up(program(suffix))
        screens.append(live.screen)
    stored = b"".join(path.read_bytes() for path in (live.folder / "stacks").iterdir())

    assert outcome.changed == 2
    assert "no changes" in screens[1]
    assert kube.get("v1", "ConfigMap", "cm", namespace)["data"] == {"token": "marked-Zq81-new"}
    for secret in hidden:
        assert secret not in "".join(screens)
        assert secret.encode() not in stored
    assert live.run("outputs") == {"token": "[secret]"}  # type: ignore[comparison-overlap]
    for path in (live.folder / "stacks").iterdir():
        assert path.stat().st_mode & 0o077 == 0, path
    live.destroy()


def test_ignored_fields_keep_what_others_set(live: Stack, kube: Kube, namespace: str) -> None:
    def program(replicas: int, image: str) -> Callable[[], None]:
        def run() -> None:
            opts = pulumi.ResourceOptions(provider=live.provider())
            space = register(kube_object("v1", "Namespace", namespace), opts, "space")
            value = deployment("web", namespace, "a", replicas=replicas)
            value["spec"]["template"]["spec"]["containers"][0]["image"] = image
            register(
                value,
                pulumi.ResourceOptions(provider=opts.provider, depends_on=[space], ignore_changes=["spec.replicas"]),
            )

        return run

    live.options = RunOptions(wait=False)
    live.up(program(0, "registry.example/x:1"))
    path = kube.path("apps/v1", "Deployment", "web", namespace)
    kube.request("PATCH", path, body={"spec": {"replicas": 2}}, content_type="application/merge-patch+json")
    assert live.up(program(5, "registry.example/x:1")).changed == 0
    assert live.up(program(5, "registry.example/x:2")).changed == 1
    spec = kube.get("apps/v1", "Deployment", "web", namespace)["spec"]
    assert spec["replicas"] == 2
    assert spec["template"]["spec"]["containers"][0]["image"] == "registry.example/x:2"
    live.destroy()


@pytest.mark.parametrize("kind", ["Deployment", "StatefulSet"])
def test_an_autoscaler_takes_the_replicas_over(live: Stack, kube: Kube, namespace: str, kind: str) -> None:
    def program(image: str, replicas: int | None) -> Callable[[], None]:
        def run() -> None:
            provider = live.provider()
            space = register(
                kube_object("v1", "Namespace", namespace), pulumi.ResourceOptions(provider=provider), "space"
            )
            value = deployment("web", namespace, "a", replicas=replicas or 0)
            value["kind"] = kind
            value["spec"]["template"]["spec"]["containers"][0]["image"] = image
            if kind == "StatefulSet":
                value["spec"]["serviceName"] = "web"
            if replicas is None:
                del value["spec"]["replicas"]
            kept = ["spec.replicas"] if replicas is None else None
            register(value, pulumi.ResourceOptions(provider=provider, depends_on=[space], ignore_changes=kept))

        return run

    path = kube.path("apps/v1", kind, "web", namespace)

    def replicas() -> int:
        return int(kube.request("GET", path)["spec"]["replicas"])

    live.options = RunOptions(wait=False)
    live.up(program("registry.example/x:1", 3))
    live.up(program("registry.example/x:1", None))
    assert replicas() == 3
    # What the HPA's controller does (k8s.io/kubernetes pkg/controller/podautoscaler: scaleNamespacer.Scales.Update).
    scale = f"{path}/scale?fieldManager=kube-controller-manager"
    kube.request("PATCH", scale, body={"spec": {"replicas": 5}}, content_type="application/merge-patch+json")
    live.up(program("registry.example/x:2", None))
    assert replicas() == 5
    owned = owned_fields(kube.request("GET", path), lambda manager: manager == MANAGER)
    assert not has_field(owned, ["spec", "replicas"])
    assert has_field(owned, ["spec", "template"])
    live.up(program("registry.example/x:2", 2))
    assert replicas() == 2
    live.destroy()


def test_protected_objects_stop_everything_before_it_starts(live: Stack, kube: Kube, namespace: str) -> None:
    def program(protect: bool, present: bool = True) -> Callable[[], None]:
        def run() -> None:
            provider = live.provider()
            options = pulumi.ResourceOptions(provider=provider, protect=protect)
            space = register(kube_object("v1", "Namespace", namespace), options, "space")
            if present:
                config_map("other", pulumi.ResourceOptions(provider=provider, depends_on=[space]), namespace, a="1")

        return run

    live.up(program(protect=True))
    with pytest.raises(WorkbenchError, match="protected") as refused:
        live.destroy()
    assert "::space" in str(refused.value)
    assert not gone(kube, "ConfigMap", "other", namespace)
    assert live.up(program(protect=False)).changed == 0
    live.destroy()
    assert gone(kube, "Namespace", namespace)


def test_retained_and_adopted_objects_stay(live: Stack, kube: Kube) -> None:
    kube.create(kube_object("v1", "ConfigMap", "theirs", "default", data={"a": "1"}))

    def program() -> None:
        provider = live.provider()
        config_map("theirs", pulumi.ResourceOptions(provider=provider), a="2")
        config_map("kept", pulumi.ResourceOptions(provider=provider, retain_on_delete=True), a="1")

    live.up(program)
    live.destroy()
    assert live.rows() == {}
    for name in ("theirs", "kept"):
        assert not gone(kube, "ConfigMap", name, "default")
        kube.delete("v1", "ConfigMap", name, "default")


def test_an_alias_moves_a_resource_without_touching_it(live: Stack, kube: Kube) -> None:
    def before() -> None:
        config_map("cm", pulumi.ResourceOptions(provider=live.provider()), a="1")

    def after() -> None:
        provider = live.provider()
        root = pulumi.Alias(parent=pulumi.ROOT_STACK_RESOURCE)
        parent = pulumi.ComponentResource("proj:index:New", "new", {})
        register(
            kube_object("v1", "ConfigMap", "cm", "default", data={"a": "1"}),
            pulumi.ResourceOptions(
                parent=parent,
                provider=provider,
                aliases=[root, pulumi.Alias(name="cm", parent=pulumi.ROOT_STACK_RESOURCE)],
            ),
            "renamed",
        )

    live.up(before)
    uid = kube.get("v1", "ConfigMap", "cm", "default")["metadata"]["uid"]
    outcome = live.up(after)
    assert outcome.changed == 0  # the component is not counted
    assert kube.get("v1", "ConfigMap", "cm", "default")["metadata"]["uid"] == uid
    assert set(live.rows()) == {"here", "new", "renamed"}
    live.destroy()
    assert gone(kube, "ConfigMap", "cm", "default")


def test_objects_carry_the_field_manager(live: Stack, kube: Kube) -> None:
    def program() -> None:
        config_map("managed", pulumi.ResourceOptions(provider=live.provider()), a="1")

    live.up(program)
    fields = kube.get("v1", "ConfigMap", "managed", "default")["metadata"]["managedFields"]
    assert [(entry["manager"], entry["operation"]) for entry in fields] == [(MANAGER, "Apply")]
    assert json.dumps(fields)
    live.destroy()

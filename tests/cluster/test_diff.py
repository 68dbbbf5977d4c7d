"""Drift on a real API server: what was applied as planned is no drift, whatever the server makes of it."""

import functools
from collections.abc import Iterator
from typing import Any

import pytest

from components.contract.schema.crds import crd
from components.families import kinds, load
from components.fleet.options import Options
from components.fleet.rendered import Fleet
from components.plan.rendering import render_fleet
from tests.cluster.waiting import eventually
from tests.fleet.test_on_cluster import established
from tests.stacks.shipped import ROOT
from toolkit.kube import Kube, KubeError
from workbench.drifting.drift import ABSENT
from workbench.drifting.reading import ObjectDrift, drifts_of, key_of
from workbench.engine.apply.objects import MANAGER

Object = dict[str, Any]
SPACE = "drifting"
SAMPLES = [*sorted((ROOT / "stacks/models").glob("*.yaml"))]
SERVED = ("v1", "apps/v1", "autoscaling/v2", "leaderworkerset.x-k8s.io/v1")


@pytest.fixture(scope="module")
def fleet(kube: Kube) -> Iterator[list[Object]]:
    """The planned objects of the samples, applied as the engine applies them."""
    for kind in (each for each in kinds() if each.api_version in SERVED):
        kube.apply(crd(kind), manager=MANAGER)
        name = kind.crd_name
        eventually(functools.partial(established, kube, name), name)
    kube.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": SPACE}}, manager=MANAGER)
    eventually(lambda: kube.list("v1", "ServiceAccount", SPACE), "default service account")
    rendered: Fleet = render_fleet(load(SAMPLES).resources, Options(namespace=SPACE))
    bodies = [
        _moved(body) for body in rendered.objects if body["apiVersion"] in SERVED and body["kind"] != "Namespace"
    ]
    for body in bodies:
        eventually(functools.partial(_applied, kube, body), f"{body['kind']}/{body['metadata']['name']}")
    yield bodies
    for body in bodies:
        kube.delete(body["apiVersion"], body["kind"], body["metadata"]["name"], SPACE)
    kube.delete("v1", "Namespace", SPACE)


def _moved(body: Object) -> Object:
    return {**body, "metadata": {**body["metadata"], "namespace": SPACE}}


def _applied(kube: Kube, body: Object) -> bool:
    try:
        kube.apply(body, manager=MANAGER)
    except KubeError as error:
        if error.status == 404:  # a new kind is served a moment after it is established
            kube.forget()
            return False
        raise
    return True


def found_in(kube: Kube, fleet: list[Object]) -> tuple[ObjectDrift, ...]:
    return tuple(drift for drift in drifts_of(fleet, {}, kube) if drift.differs or drift.unread)


def test_what_was_applied_is_no_drift(kube: Kube, fleet: list[Object]) -> None:
    assert len({body["kind"] for body in fleet}) >= 4
    assert len(fleet) > 30
    assert found_in(kube, fleet) == ()


def test_edits_are_found_with_their_writer(kube: Kube, fleet: list[Object]) -> None:
    body = next(each for each in fleet if each["kind"] == "Deployment")
    name = body["metadata"]["name"]
    path = kube.path_of(body)
    server = body["spec"]["template"]["spec"]["containers"][0]["name"]
    image = {"spec": {"template": {"spec": {"containers": [{"name": server, "image": "example.com/other:1"}]}}}}
    patch = {**image, "metadata": {"labels": {"edited": "yes"}}}
    kube.request(
        "PATCH",
        path,
        params={"fieldManager": "kubectl-edit"},
        body=patch,
        content_type="application/strategic-merge-patch+json",
    )
    (drift,) = found_in(kube, fleet)
    assert (drift.kind, drift.name) == ("Deployment", name)
    values = {field.path: (field.planned, field.live, field.writer.manager) for field in drift.fields}
    assert values == {
        "metadata.labels.edited": (ABSENT, "yes", "kubectl-edit"),
        "spec.template.spec.containers[0].image": (
            body["spec"]["template"]["spec"]["containers"][0]["image"],
            "example.com/other:1",
            "kubectl-edit",
        ),
    }
    assert all(field.writer.time.startswith("20") for field in drift.fields)
    kube.request(
        "PATCH", path, body={"metadata": {"labels": {"edited": None}}}, content_type="application/merge-patch+json"
    )
    kube.apply(body, manager=MANAGER)
    assert found_in(kube, fleet) == ()


def test_a_deleted_object_is_absent(kube: Kube, fleet: list[Object]) -> None:
    body = next(each for each in fleet if each["kind"] == "Service")
    kube.delete("v1", "Service", body["metadata"]["name"], SPACE)
    (drift,) = found_in(kube, fleet)
    assert (drift.name, drift.absent, drift.fields) == (body["metadata"]["name"], True, ())
    kube.apply(body, manager=MANAGER)
    assert found_in(kube, fleet) == ()


def test_replicas_that_an_autoscaler_sets_are_no_drift(kube: Kube, fleet: list[Object]) -> None:
    scaler = next(each for each in fleet if each["kind"] == "HorizontalPodAutoscaler")
    target = scaler["spec"]["scaleTargetRef"]
    body = next(
        each for each in fleet if (each["kind"], each["metadata"]["name"]) == (target["kind"], target["name"])
    )
    assert "replicas" not in body["spec"]
    scale = {"spec": {"replicas": 3}}
    kube.request("PATCH", f"{kube.path_of(body)}/scale", body=scale, content_type="application/merge-patch+json")
    (drift,) = [each for each in drifts_of(fleet, {}, kube) if (each.kind, each.name) == key_of(body)[1:4:2]]
    assert drift.fields == ()
    assert [(field.path, field.live, field.owner) for field in drift.explained] == [
        ("spec.replicas", 3, f"HorizontalPodAutoscaler {scaler['metadata']['name']}")
    ]

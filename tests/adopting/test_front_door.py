"""The front door: a gateway that a stack created becomes its settings again, and other routes are listed."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from components.families import objects
from components.plan.plan import plan
from tests.adopting import support
from tests.adopting.support import Object, engine_run, everything, identity
from tests.cluster.test_inspect import served
from toolkit.kube import Kube, NoSuchKindError
from workbench.adopting.project import project_files, write
from workbench.adopting.reading import ReadAdoption, read_adoption
from workbench.adopting.settings import environment_of
from workbench.cluster.cluster import Running
from workbench.inspecting.reading import read_cluster

NAMESPACE = "door-models"
DOORS: dict[str, dict[str, Any]] = {
    "keys and a certificate": {
        "expose": "gateway",
        "host": "models.example.com",
        "tls": {"kind": "cert-manager", "issuer": "letsencrypt", "issuerKind": "ClusterIssuer"},
        "auth": {"kind": "api-key", "secrets": ["team-a", "team-b"]},
    },
    "tokens, private, with other bounds": {
        "expose": "gateway",
        "auth": {
            "kind": "jwt",
            "issuer": "https://issuer.example",
            "jwksUri": "https://issuer.example/keys",
            "audiences": ["models"],
            "clientClaim": "team",
        },
        "requestTimeout": "5m",
        "maxBodySize": "20Mi",
        "replicas": 3,
        "accessLog": False,
        "internal": True,
    },
}
MODEL = support.resources_of("llmkube-vllm-qwen32b.yaml", NAMESPACE)
CHARTS = ["ai-gateway", "cert-manager", "envoy-gateway", "llmkube", "nvidia-device-plugin", "prometheus"]


def values(door: dict[str, Any]) -> dict[str, Any]:
    present = {"install": False, "present": CHARTS}
    return {"realizations": {"llmkube": "operator"}, "prerequisites": present, "frontDoor": door}


def door_objects(door: dict[str, Any]) -> tuple[Object, ...]:
    planned = plan(objects(MODEL, "models"), environment_of(values(door)))
    assert planned.door.objects, [str(problem) for problem in planned.problems]
    return planned.door.objects


def definition(body: Object) -> Object:
    group, _, version = body["apiVersion"].partition("/")
    kind = body["kind"]
    # The plurals of Kubernetes: gateways, securitypolicies, envoyproxies, gatewayclasses.
    stem = kind.lower()
    is_word = stem.endswith(("cy", "xy"))
    plural = f"{stem[:-1]}ies" if is_word else f"{stem}es" if stem.endswith("s") else f"{stem}s"
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {
            "name": f"{plural}.{group}",
            "annotations": {"api-approved.kubernetes.io": "unapproved, without a schema"},
        },
        "spec": {
            "group": group,
            "names": {"plural": plural, "singular": kind.lower(), "kind": kind, "listKind": f"{kind}List"},
            "scope": "Namespaced" if body["metadata"].get("namespace") else "Cluster",
            "versions": [{"name": version, "served": True, "storage": True, "schema": schema}],
        },
    }


ROUTE: Object = {
    "apiVersion": "gateway.networking.k8s.io/v1",
    "kind": "HTTPRoute",
    "metadata": {"name": "chat", "namespace": NAMESPACE},
    "spec": {"rules": [{"backendRefs": [{"name": "chat", "port": 80}]}]},
}
INGRESS: Object = {
    "apiVersion": "networking.k8s.io/v1",
    "kind": "Ingress",
    "metadata": {"name": "chat", "namespace": NAMESPACE},
    "spec": {"defaultBackend": {"service": {"name": "chat", "port": {"number": 80}}}},
}
ELSEWHERE: Object = {
    **INGRESS,
    "metadata": {"name": "web", "namespace": NAMESPACE},
    "spec": {"defaultBackend": {"service": {"name": "web", "port": {"number": 80}}}},
}


@pytest.fixture(scope="module", autouse=True)
def _kinds(kube: Kube) -> None:
    support.install_kinds(kube)
    every = {definition(body)["metadata"]["name"]: body for door in DOORS.values() for body in door_objects(door)}
    for body in (*every.values(), ROUTE):
        try:
            kube.resource(body["apiVersion"], body["kind"])
        except NoSuchKindError:
            served(kube, definition(body))


@pytest.fixture(scope="module")
def namespaces(kube: Kube) -> Iterator[None]:
    """The namespace of the models, and that of the gateway."""
    for name in (NAMESPACE, "envoy-gateway-system"):
        kube.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}, manager=support.KUBECTL)
    yield
    kube.delete("v1", "Namespace", NAMESPACE)


@pytest.fixture
def running(kube: Kube, namespaces: None) -> Iterator[Kube]:
    """A cluster with models."""
    own = [*MODEL, support.deployment("chat", NAMESPACE), support.service("chat", NAMESPACE)]
    for body in own:
        support.client_side(kube, body)
    yield kube
    of_doors = [body for door in DOORS.values() for body in door_objects(door)]
    for body in (*own, ROUTE, INGRESS, ELSEWHERE, *of_doors):
        metadata = body["metadata"]
        kube.delete(body["apiVersion"], body["kind"], metadata["name"], metadata.get("namespace"))


def adopted(kube: Kube, cluster: Running, folder: Path) -> ReadAdoption:
    read = read_adoption(kube, read_cluster(kube, [NAMESPACE]))
    access = {"kubeconfig": str(cluster.kubeconfig), "clusterName": "adopted"}
    write(folder, project_files(folder, "dev", read.adoption, {**access, **read.values}))
    (folder / "__main__.py").write_text(support.PROGRAM)
    return read


@pytest.mark.parametrize("name", DOORS)
def test_a_gateway_becomes_settings_and_is_imported(
    running: Kube, cluster: Running, name: str, tmp_path: Path
) -> None:
    door = door_objects(DOORS[name])
    for body in door:
        support.client_side(running, body)
    before = [
        running.get(b["apiVersion"], b["kind"], b["metadata"]["name"], b["metadata"].get("namespace")) for b in door
    ]
    others = identity(everything(running, NAMESPACE))
    read = adopted(running, cluster, tmp_path)
    assert read.values.get("frontDoor") == DOORS[name], read.notes
    config = yaml.safe_load((tmp_path / "Pulumi.dev.yaml").read_text())["config"]
    assert config["inference-platform:frontDoor"] == DOORS[name]
    assert read.adoption.problems == ()
    assert sum("inference-gateway" in each for each in read.adoption.imports) >= 6

    assert engine_run(tmp_path, "dev", "up").ok
    after = [
        running.get(b["apiVersion"], b["kind"], b["metadata"]["name"], b["metadata"].get("namespace")) for b in door
    ]
    assert [(b["metadata"]["uid"], b["spec"]) for b in after] == [(b["metadata"]["uid"], b["spec"]) for b in before]
    assert identity(everything(running, NAMESPACE)) == others
    assert engine_run(tmp_path, "dev", "up").changed == 0


def test_a_gateway_that_settings_cannot_express_is_listed(running: Kube) -> None:
    (gateway,) = [body for body in door_objects(DOORS["keys and a certificate"]) if body["kind"] == "Gateway"]
    support.client_side(running, gateway)
    read = read_adoption(running, read_cluster(running, [NAMESPACE]))
    assert "frontDoor" not in read.values
    (note,) = [each for each in read.notes if each.startswith("Gateway ")]
    assert note.startswith("Gateway envoy-gateway-system/inference-gateway of models.example.com stays outside")
    assert "GatewayClass inference-gateway does not exist" in note


def test_other_routes_to_the_models_are_listed(running: Kube) -> None:
    for body in (ROUTE, INGRESS, ELSEWHERE):
        support.client_side(running, body)
    notes = [
        each for each in read_adoption(running, read_cluster(running, [NAMESPACE])).notes if " routes to " in each
    ]
    assert [each.partition(" and ")[0] for each in notes] == [
        f"HTTPRoute {NAMESPACE}/chat routes to chat,",
        f"Ingress {NAMESPACE}/chat routes to chat,",
    ]

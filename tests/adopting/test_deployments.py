"""Deployments that others published, adopted on a real API server (``deployments.yaml``)."""

import copy
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.adopting import support
from tests.adopting.support import Object, engine_run
from tests.cluster.test_inspect import definition, served
from toolkit.kube import Kube
from workbench.cluster.cluster import Running
from workbench.engine.display import Display
from workbench.inspecting.reading import read_kinds

Row = dict[str, Any]
ROWS: list[Row] = yaml.safe_load(Path(__file__).with_name("deployments.yaml").read_text())
INSPECTED: dict[str, Row] = {
    each["name"]: each
    for each in yaml.safe_load((Path(__file__).parents[1] / "inspecting/deployments.yaml").read_text())
}
FOREIGN = ("serving.kserve.io", "inference.networking.k8s.io", "ray.io")


@pytest.fixture(scope="module", autouse=True)
def _kinds(kube: Kube) -> None:
    support.install_kinds(kube)
    for kind in read_kinds():
        if kind.apis[0].startswith(FOREIGN):
            body = definition(kind)
            body["metadata"]["annotations"] = {"api-approved.kubernetes.io": "unapproved, without a schema"}
            # Every version that manifests may have; the server stores the first one.
            (first,) = body["spec"]["versions"]
            versions = [api.rpartition("/")[2] for api in kind.apis if api.startswith(FOREIGN)]
            body["spec"]["versions"] = [{**first, "name": name, "storage": name == versions[0]} for name in versions]
            served(kube, body)


def in_namespace(body: Object, namespace: str) -> Object:
    copied = copy.deepcopy(body)
    copied["metadata"]["namespace"] = namespace
    return copied


@pytest.fixture
def deployed(kube: Kube, request: pytest.FixtureRequest) -> Iterator[tuple[Row, str, list[Object]]]:
    """The verdicts, the namespace, and the applied objects of a deployment."""
    row: Row = request.param
    namespace = f"deployed-{ROWS.index(row)}"
    kube.request("POST", "/api/v1/namespaces", body={"metadata": {"name": namespace}})
    objects = [in_namespace(body, namespace) for body in INSPECTED[row["deployment"]]["objects"]]
    for body in objects:
        support.client_side(kube, body)
    yield row, namespace, objects
    for body in objects:
        kube.delete(body["apiVersion"], body["kind"], body["metadata"]["name"], namespace)
    kube.delete("v1", "Namespace", namespace)


def title(body: Object) -> str:
    return f"{body['kind']}/{body['metadata']['name']}"


def live(kube: Kube, objects: list[Object]) -> dict[str, tuple[Any, ...]]:
    found = {
        title(body): kube.get(
            body["apiVersion"], body["kind"], body["metadata"]["name"], body["metadata"]["namespace"]
        )
        for body in objects
    }
    return support.identity(found)


def change(folder: Path, edit: Row) -> None:
    """Change one field of one object in the project."""
    for path in sorted((folder / "models").rglob("*.yaml")):
        documents = list(yaml.safe_load_all(path.read_text()))
        for body in documents:
            if title(body) == edit["object"]:
                *steps, last = edit["field"].split(".")
                part = body
                for step in steps:
                    part = part.setdefault(step, {})
                part[last] = edit["value"]
        path.write_text(yaml.safe_dump_all(documents))


@pytest.mark.parametrize("deployed", ROWS, indirect=True, ids=lambda row: row["deployment"])
def test_a_published_deployment_is_adopted(
    kube: Kube, cluster: Running, deployed: tuple[Row, str, list[Object]], tmp_path: Path
) -> None:
    row, namespace, objects = deployed
    before = live(kube, objects)
    read = support.adopted(kube, cluster, [namespace], tmp_path)
    becomes = {
        f"{decision.candidate.identity[1]}/{decision.candidate.identity[3]}": decision.becomes.value
        for decision in read.adoption.decisions
        if not decision.owned
    }
    assert {title(body): becomes.get(title(body), "absent") for body in objects} == row["becomes"]
    assert read.adoption.problems == ()
    if "edit" not in row:
        assert not any(decision.manifest for decision in read.adoption.decisions)
        return

    screen = StringIO()
    engine_run(tmp_path, "dev", "preview", Display(screen))
    assert f" {len(read.adoption.imports)} to import" in screen.getvalue()
    assert "=> " not in screen.getvalue(), screen.getvalue()
    assert engine_run(tmp_path, "dev", "up").ok
    assert live(kube, objects) == before
    assert engine_run(tmp_path, "dev", "up").changed == 0
    assert live(kube, objects) == before

    change(tmp_path, row["edit"])
    assert engine_run(tmp_path, "dev", "up").ok
    after = live(kube, objects)
    assert {name for name in before if before[name] != after[name]} == {row["edit"]["object"]}
    assert all(after[name][0] == before[name][0] for name in before)


def test_every_inspected_deployment_is_adopted() -> None:
    assert [row["deployment"] for row in ROWS] == [*INSPECTED]

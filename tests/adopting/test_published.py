"""Workloads that others published (``tests/inspecting/published.yaml``), created in five ways, adopted, and changed.

A push creates each workload in one way, in turn; set ``INFERENCE_PLATFORM_FLEETS`` to 40 for each in every way.
"""

import copy
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from components.fleet.shapes import shape_of
from tests.adopting import support
from tests.adopting.support import Object, engine_run
from tests.adopting.test_taking_over import changed, comparable, places, reduced
from tests.cluster.test_inspect import definition, served
from tests.inspecting.test_published import PUBLISHED, published_objects
from toolkit.kube import Kube, KubeError
from workbench.cli import app
from workbench.cluster.cluster import Running
from workbench.engine.apply.objects import MANAGER
from workbench.inspecting.reading import ReadKind, read_kinds
from workbench.inspecting.snapshot import identity_of

ALL = int(os.environ.get("INFERENCE_PLATFORM_FLEETS", "10")) >= 40
OPERATOR = "serving-operator"


def by_terraform(kube: Kube, body: Object) -> Object:
    """Create an object as `kubernetes_manifest` of Terraform does."""
    return kube.apply(body, manager="Terraform")


def by_operator(kube: Kube, body: Object) -> Object:
    """Create a workload as an operator does for a resource of its own; resources are written by people."""
    namespace = body["metadata"].get("namespace")
    if body["kind"] != "Service" and shape_of(body) is None:
        return support.client_side(kube, body)
    resource = kube.apply(
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "resource", "namespace": namespace}},
        manager="test",
    )
    owner = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "name": "resource",
        "uid": resource["metadata"]["uid"],
        "controller": True,
    }
    copied = copy.deepcopy(body)
    copied["metadata"]["ownerReferences"] = [owner]
    return support.created(kube, copied, OPERATOR)


WAYS: dict[str, Callable[[Kube, Object], Object]] = {
    "client-side": support.client_side,
    "server-side": support.server_side,
    "helm": support.by_helm,
    "terraform": by_terraform,
    "operator": by_operator,
}


@dataclass
class Published:
    """What was created in one way.

    Attributes:
        namespaces: One for each workload.
        objects: The live objects.
    """

    way: str
    namespaces: list[str]
    objects: list[Object]

    def live(self, kube: Kube) -> dict[str, tuple[object, ...]]:
        """Return what a change or a restart would alter."""
        found = {str(identity_of(body)): kube.get_live(body) for body in self.objects}
        return support.identity(found)

    def pods(self, kube: Kube) -> set[str]:
        """Return the pods."""
        return {pod["metadata"]["uid"] for space in self.namespaces for pod in kube.list("v1", "Pod", space)}


@pytest.fixture(scope="module", autouse=True)
def _kinds(kube: Kube) -> None:
    """Serve the kinds of other projects, without their schemas."""
    support.install_kinds(kube)
    known = {(kind.apis[0].rpartition("/")[0], kind.kind): kind for kind in read_kinds()}
    bodies = [body for number, row in enumerate(PUBLISHED) for body in published_objects(row, f"n{number}")]
    versions: dict[tuple[str, str], dict[str, None]] = {}
    for body in bodies:
        group, _, version = body["apiVersion"].rpartition("/")
        if "." in group and shape_of(body) is None and group not in ("autoscaling", "keda.sh"):
            versions.setdefault((group, body["kind"]), {})[version] = None
    for (group, kind), names in versions.items():
        row = known.get((group, kind))
        plural = row.plural if row else f"{kind.lower()}s"
        namespaced = row.namespaced if row else True
        made = definition(ReadKind(kind, plural, (f"{group}/{next(iter(names))}",), namespaced, ""))
        made["metadata"]["annotations"] = {"api-approved.kubernetes.io": "unapproved, without a schema"}
        (first,) = made["spec"]["versions"]
        made["spec"]["versions"] = [{**first, "name": name, "storage": not place} for place, name in enumerate(names)]
        served(kube, made)


@pytest.fixture
def published(kube: Kube, request: pytest.FixtureRequest) -> Iterator[Published]:
    way: str = request.param
    rows = PUBLISHED if ALL else PUBLISHED[[*WAYS].index(way) :: len(WAYS)]
    made = Published(way, [f"published-{way}-{number}" for number in range(len(rows))], [])
    for row, namespace in zip(rows, made.namespaces, strict=True):
        kube.request("POST", "/api/v1/namespaces", body={"metadata": {"name": namespace}})
        made.objects += [WAYS[way](kube, body) for body in published_objects(row, namespace)]
    yield made
    for body in made.objects:
        metadata = body["metadata"]
        kube.delete(body["apiVersion"], body["kind"], metadata["name"], metadata.get("namespace"))
    for namespace in made.namespaces:
        kube.delete("v1", "Namespace", namespace)


@pytest.mark.parametrize("published", WAYS, indirect=True)
def test_published_workloads_are_adopted_as_they_are(
    kube: Kube, cluster: Running, published: Published, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, pods = published.live(kube), published.pods(kube)
    adoption = support.adopted(kube, cluster, published.namespaces, tmp_path).adoption
    assert adoption.problems == ()
    decisions = {decision.candidate.identity: decision for decision in adoption.decisions}
    for body in published.objects:
        decision = decisions.get(identity_of(body))
        if body["metadata"].get("ownerReferences"):
            # A Service of an operator is part of no project either.
            assert decision.owned if decision else body["kind"] == "Service"
        elif body["kind"] == "ConfigMap":
            assert decision is None
        elif "--api-key" in str(body):
            assert decision
            assert "looks like a secret" in decision.reason
        else:
            assert decision, identity_of(body)
            assert decision.manifest, f"{decision.candidate.title}: {decision.reason} {decision.differences}"

    assert engine_run(tmp_path, "dev", "up").ok
    assert engine_run(tmp_path, "dev", "up").changed == 0
    monkeypatch.chdir(tmp_path)
    found = CliRunner().invoke(app, ["diff", "--stack", "dev", "--kubeconfig", str(cluster.kubeconfig)])
    assert (found.exit_code, found.output) == (0, "The cluster is as planned.\n")
    assert published.live(kube) == before
    assert pods <= published.pods(kube)

    counts = {}
    for path in sorted((tmp_path / "models").rglob("*.yaml")):
        for body in yaml.safe_load_all(path.read_text()):
            fields, faults = removals(kube, body)
            assert faults == [], path
            counts[identity_of(body)] = fields
    print(f"{published.way}: {len(before)} objects, {len(counts)} adopted, {sum(counts.values())} fields removed")  # noqa: T201  the figures, with pytest -rP
    assert len(counts) == sum(bool(decision.manifest) for decision in adoption.decisions)
    assert all(counts.values())


def removals(kube: Kube, body: Object) -> tuple[int, list[str]]:
    """Remove each field of an adopted manifest in a dry run; return their number, and what stayed or was refused.

    A removed field must leave what the API server makes of a new object without it.
    """
    removed, faults = 0, []
    for field in places(body):
        manifest = reduced(body, field)
        try:
            fresh = kube.create({**manifest, "metadata": {**manifest["metadata"], "name": "other"}}, dry_run=True)
        except KubeError:
            continue  # a required field
        try:
            applied = kube.apply(manifest, manager=MANAGER, dry_run=True)
        except KubeError as error:
            faults += [] if error.immutable else [f"{field}: {error.message}"]
            continue
        differs = [*changed(filled(comparable(applied)), filled(comparable(fresh)))]
        faults += [f"{field}: {differs}"] if differs else []
        removed += 1
    return removed, faults


def filled(value: object) -> object:
    """Return a value without empty lists, which server-side apply does not remove and which mean none."""
    if isinstance(value, dict):
        return {key: filled(inner) for key, inner in value.items() if inner != []}
    return [filled(inner) for inner in value] if isinstance(value, list) else value

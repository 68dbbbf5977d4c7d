"""Fleets generated at random, on a real API server: adopted, imported, and afterwards changed one model at a time."""

import os
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path

import pytest
import yaml

from tests.adopting import support
from tests.adopting.support import Object, engine_run, everything, identity
from toolkit.kube import Kube
from workbench.adopting.decisions import Becomes
from workbench.cluster.cluster import Running
from workbench.engine.display import Display

FLEETS = int(os.environ.get("INFERENCE_PLATFORM_FLEETS", "10"))
APPLIED_BY = (support.client_side, support.by_helm, support.server_side)
MIXED = "llama-405b-multinode.yaml"
"""Its Service has fields of two releases of llmaz, which no operator accepts together."""
FILES = sorted(path.name for path in support.MODELS.glob("*.yaml") if path.name != MIXED)
CLUSTER_WIDE = "OpenModel"


@pytest.fixture(scope="module", autouse=True)
def _kinds(kube: Kube) -> None:
    support.install_kinds(kube)


@dataclass
class Fleet:
    """What people applied to one namespace."""

    namespace: str
    workloads: list[str] = field(default_factory=list)
    scaled: dict[str, int] = field(default_factory=dict)
    resources: list[Object] = field(default_factory=list)


@pytest.fixture
def fleet(kube: Kube, request: pytest.FixtureRequest) -> Iterator[Fleet]:
    seed = request.param
    namespace = f"adopt-{seed}"
    kube.request("POST", "/api/v1/namespaces", params={"fieldManager": support.KUBECTL}, body=_namespace(namespace))
    made = generate(kube, namespace, random.Random(seed))
    yield made
    for body in made.resources:
        kube.delete(body["apiVersion"], body["kind"], body["metadata"]["name"], body["metadata"].get("namespace"))
    kube.delete("v1", "Namespace", namespace)


def _namespace(name: str) -> Object:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": {"team": "ml"}}}


def generate(kube: Kube, namespace: str, chance: random.Random) -> Fleet:
    """Apply a random fleet as different people would."""
    fleet = Fleet(namespace)
    for number in range(chance.randint(1, 3)):
        name = f"plain-{number}"
        apply = chance.choice(APPLIED_BY)
        body = chance.choice((support.deployment, support.stateful_set))(name, namespace)
        autoscaled = chance.random() < 0.5
        live = apply(kube, body)
        fleet.workloads.append(f"{body['kind']}/{name}")
        apply(kube, support.service(name, namespace, chance.choice(("ClusterIP", "None", "NodePort"))))
        if autoscaled:
            chance.choice(APPLIED_BY)(kube, support.hpa(name, namespace, body["kind"]))
            fleet.scaled[name] = chance.randint(2, 4)
            support.autoscale(kube, live, fleet.scaled[name])
        if chance.random() < 0.5:
            change = {"spec": {"template": {"metadata": {"annotations": {"note": "by hand"}}}}}
            support.edit(kube, live, change)
    if chance.random() < 0.7:
        chance.choice(APPLIED_BY)(kube, support.leader_worker_set("group", namespace))
    for file in chance.sample(FILES, chance.randint(2, 5)):
        apply = chance.choice(APPLIED_BY)
        for body in support.resources_of(file, namespace):
            apply(kube, body)
            fleet.resources.append(body)
    return fleet


@pytest.mark.parametrize("fleet", range(FLEETS), indirect=True, ids=str)
def test_adopting_a_fleet_changes_nothing(kube: Kube, cluster: Running, fleet: Fleet, tmp_path: Path) -> None:
    before = identity(everything(kube, fleet.namespace))
    read = support.adopted(kube, cluster, [fleet.namespace], tmp_path)
    own = [decision for decision in read.adoption.decisions if decision.candidate.kind and not decision.owned]
    typed = [decision for decision in own if decision.becomes is Becomes.TYPED]
    print(f"typed: {len(typed)} of {len(own)}")  # noqa: T201  the measure, with pytest -rP
    reasons = "\n".join(f"{d.candidate.title}: {d.reason} {d.differences}" for d in own if d not in typed)
    assert len(typed) >= 0.9 * len(own), reasons
    verbatim = {
        f"{d.candidate.identity[1]}/{d.candidate.identity[3]}" for d in read.adoption.having(Becomes.VERBATIM)
    }
    assert verbatim >= set(fleet.workloads)
    assert read.adoption.problems == ()

    screen = StringIO()
    engine_run(tmp_path, "dev", "preview", Display(screen))
    shown = screen.getvalue()
    assert f" {len(read.adoption.imports)} to import" in shown
    assert " to update" not in shown
    assert "=> " not in shown, shown
    assert engine_run(tmp_path, "dev", "up").ok
    assert identity(everything(kube, fleet.namespace)) == before
    assert engine_run(tmp_path, "dev", "up").changed == 0
    assert identity(everything(kube, fleet.namespace)) == before

    changed = change_one(tmp_path, fleet)
    engine_run(tmp_path, "dev", "up")
    after = identity(everything(kube, fleet.namespace))
    assert {key for key in before if before[key] != after[key]} == {changed}
    for name, replicas in fleet.scaled.items():
        (key,) = [each for each in fleet.workloads if each.endswith(f"/{name}")]
        assert after[key][2]["replicas"] == replicas
    assert set(after) == set(before)

    engine_run(tmp_path, "dev", "destroy")
    assert identity(everything(kube, fleet.namespace)) == after


def change_one(folder: Path, fleet: Fleet) -> str:
    """Change the image of the first workload in its manifest."""
    kind, name = fleet.workloads[0].split("/")
    path = folder / "models" / fleet.namespace / f"{name}.yaml"
    documents = list(yaml.safe_load_all(path.read_text()))
    for body in documents:
        if body["kind"] == kind:
            body["spec"]["template"]["spec"]["containers"][0]["image"] = "vllm/vllm-openai:v0.10.1"
    path.write_text(yaml.safe_dump_all(documents))
    return fleet.workloads[0]
